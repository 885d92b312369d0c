// `jsonplane finalizers clear`: the way out when objects wait for an operator that no longer
// exists.

import { defineCommand } from "../command.ts";
import { settings } from "./settings.ts";

export const clearFinalizersCommand = defineCommand({
  name: "finalizers clear",
  summary: "Release objects that wait for an uninstalled operator; their data stay in Redis",
  settings,
  run: async (given) => {
    const { runClear } = await import("./run-clear.ts");
    return await runClear(given);
  },
});
