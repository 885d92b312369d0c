// `jsonplane operator`: one of the replicas that turn custom resources into what the data plane
// serves.

import { defineCommand } from "../command.ts";
import { settings } from "./settings.ts";

export const operatorCommand = defineCommand({
  name: "operator",
  summary: "Reconcile custom resources into Secrets and configuration; one of several leads",
  settings,
  needs: ["redis", "publicUrl"],
  run: async (given) => {
    const { runOperator } = await import("./run-operator.ts");
    return await runOperator(given);
  },
});
