// base.ts: where the API is. `VITE_API=https://… npm run build` makes the app for another place
// than this machine.

export const base: string = import.meta.env["VITE_API"] ?? "http://127.0.0.1:8080/default/team-tasks";
