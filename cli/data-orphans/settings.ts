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
  redisCaFile,
  redisSecret,
  redisTlsSecret,
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
  redisTlsSecret: {
    ...redisTlsSecret,
    help: "Secret in the operator's namespace with the certificate of the Redis at --redis",
  },
  redisCaFile,
  kubeconfig,
  operatorNamespace,
};

export type OrphansSettings = CommandSettings<typeof settings, "redis">;
