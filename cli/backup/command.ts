// `jsonplane backup PLACE`: what Projects store, as files in a folder or bucket.

import { defineCommand } from "../command.ts";
import { placeArgument, settings } from "./settings.ts";

export const backupCommand = defineCommand({
  name: "backup",
  summary: "Write what Projects store to a folder or bucket, one file for each",
  argument: placeArgument,
  settings,
  needs: ["redis"],
  run: async (given, place) => {
    const { runBackup } = await import("./run-backup.ts");
    return await runBackup(place, given);
  },
});
