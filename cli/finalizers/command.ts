// `jsonplane finalizers clear`: the way out when objects wait for an operator that is not there any more.

import { allNamespaces, dryRun, force, kind, kubeconfig, namespace } from "../../core/env/settings.ts";
import { type CommandSettings, defineCommand } from "../command.ts";

const settings = { namespace, allNamespaces, kind, kubeconfig, dryRun, force };

export type ClearSettings = CommandSettings<typeof settings, never>;

export const clearFinalizersCommand = defineCommand({
  name: "finalizers clear",
  summary: "Let objects go that wait for an uninstalled operator; their data stay in Redis",
  settings,
  run: async (given) => {
    const { runClear } = await import("./run-clear.ts");
    return await runClear(given);
  },
});
