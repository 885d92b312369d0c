// What `jsonplane data orphans` can be given, by flags or environment variables.

import {
  all,
  deleteData,
  kubeconfig,
  namespace,
  operatorNamespace,
  output,
  project,
  redis,
  redisSecret,
  timeout,
  yes,
} from "../../core/env/settings.ts";
import type { CommandSettings } from "../command.ts";

export const settings = {
  namespace: { ...namespace, help: "Only data of this namespace" },
  project,
  output,
  deleteData,
  all,
  yes,
  timeout,
  redis,
  redisSecret: { ...redisSecret, help: "Secret in the operator's namespace with the users of the Redis at --redis" },
  kubeconfig,
  operatorNamespace,
};

export type OrphansSettings = CommandSettings<typeof settings, "redis">;
