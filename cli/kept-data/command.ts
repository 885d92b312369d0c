// `jsonplane data orphans`: what is kept of stored data although nobody serves them, and the way to have them deleted.

import { all, deleteData, output, project, timeout, yes } from "../../core/env/kept-data-settings.ts";
import { className, kubeconfig, namespace, operatorNamespace, redis, redisSecret } from "../../core/env/settings.ts";
import { type CommandSettings, defineCommand } from "../command.ts";

const settings = {
  namespace: { ...namespace, help: "Only data of this namespace" },
  project,
  output,
  deleteData,
  all,
  yes,
  timeout,
  redis,
  redisSecret: { ...redisSecret, help: "Secret of the operator's namespace with the users of the Redis at --redis" },
  kubeconfig,
  operatorNamespace,
  className: { ...className, help: "Class of the operator; default: none" },
};

export type OrphansSettings = CommandSettings<typeof settings, "redis">;

export const dataOrphansCommand = defineCommand({
  name: "data orphans",
  summary: "List stored data that are kept although nobody serves them; with --delete have them deleted",
  argument: { name: "NAMESPACE/PROJECT[/KIND/NAME]", help: "Only these; what --delete deletes", isList: true },
  settings,
  needs: ["redis"],
  run: async (given, argument) => {
    const { runOrphans } = await import("./run-orphans.ts");
    return await runOrphans(given, argument);
  },
});
