// `jsonplane dataplane`: one replica of the data plane, from Redis alone.

import { defineCommand } from "../command.ts";
import { settings } from "./settings.ts";

export const dataplaneCommand = defineCommand({
  name: "dataplane",
  summary: "Serve the projects that are published in Redis: one replica of many",
  settings,
  needs: ["redis", "keyring"],
  run: async (given) => {
    const { runDataplane } = await import("./run-dataplane.ts");
    return await runDataplane(given);
  },
});
