// `jsonplane restore PLACE`: what Projects stored, from backups.

import { placeArgument } from "../backup/settings.ts";
import { defineCommand } from "../command.ts";
import { settings } from "./settings.ts";

export const restoreCommand = defineCommand({
  name: "restore",
  summary: "Write what a backup holds of Projects back into Redis; the Projects must be there",
  argument: placeArgument,
  settings,
  needs: ["redis", "keyring"],
  run: async (given, place) => {
    const { runRestore } = await import("./run-restore.ts");
    return await runRestore(place, given);
  },
});
