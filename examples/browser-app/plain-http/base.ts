// base.ts: where the API is.

export const base = "http://127.0.0.1:8080/default/team";
