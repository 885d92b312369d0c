// `jsonplane data reset DIR`: begins dev mode's data again.

import { data, only } from "../../core/env/settings.ts";
import { defineCommand } from "../command.ts";

export const dataResetCommand = defineCommand({
  name: "data reset",
  summary: "Delete what dev mode has stored for a folder of manifests in its data folder; credentials stay",
  argument: { name: "DIR", help: "Folder of manifests, as dev mode was given it; dev mode must not be running" },
  settings: { data, only },
  run: async (settings, folder) => {
    const { runReset } = await import("./run-reset.ts");
    return await runReset(folder, settings);
  },
});
