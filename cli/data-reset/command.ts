// `jsonplane data reset DIR`: begins dev mode's data again.

import { data, ofProject, only } from "../../core/env/settings.ts";
import { defineCommand } from "../command.ts";

export const dataResetCommand = defineCommand({
  name: "data reset",
  summary:
    "Delete what dev mode has stored of what a folder of manifests names now, or of one Project; credentials stay",
  argument: { name: "DIR", help: "Folder of manifests, as dev mode was given it; dev mode must not be running" },
  settings: { data, project: ofProject, only },
  run: async (settings, folder) => {
    const { runReset } = await import("./run-reset.ts");
    return await runReset(folder, settings);
  },
});
