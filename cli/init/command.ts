// `jsonplane init [DIR]`: a first folder of manifests, to serve and to change.

import { defineCommand } from "../command.ts";

export const initCommand = defineCommand({
  name: "init",
  summary: "Write a small project to start from, with comments, into a new or empty folder",
  argument: {
    name: "DIR",
    help: "Folder to write into, which names the Project; made when it is missing (backend)",
    fallback: "backend",
  },
  settings: {},
  run: async (_, folder) => {
    const { runInit } = await import("./run-init.ts");
    return await runInit(folder, {
      out: (line) => void process.stdout.write(`${line}\n`),
      error: (line) => void process.stderr.write(`jsonplane: ${line}\n`),
    });
  },
});
