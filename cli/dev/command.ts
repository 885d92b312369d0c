// `jsonplane dev DIR`: serves a folder of manifests, without a cluster and without Redis.

import { defineCommand } from "../command.ts";
import { settings } from "./settings.ts";

export const devCommand = defineCommand({
  name: "dev",
  summary: "Serve a folder of manifests and follow its changes, with an overview at / for browsers",
  argument: {
    name: "DIR",
    help: "Folder of manifests (*.yaml, *.yml, *.json), read with its subfolders, or one such file; jsonplane init writes a first one",
  },
  settings,
  run: async (given, folder) => {
    const { startDev } = await import("./start-dev.ts");
    return await startDev({ ...given, folder });
  },
});
