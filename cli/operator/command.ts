// `jsonplane operator`: one of the replicas that turn custom resources into what the data plane serves.

import {
  adminPort,
  adminTokenFile,
  adoptData,
  allowedHosts,
  className,
  host,
  identity,
  kubeconfig,
  leaseDuration,
  logLevel,
  onDataLoss,
  operatorNamespace,
  publicUrl,
  redis,
  redisSecret,
  watchNamespaces,
  workers,
} from "../../core/env/settings.ts";
import { type CommandSettings, defineCommand } from "../command.ts";

const settings = {
  redis,
  redisSecret,
  publicUrl,
  kubeconfig,
  operatorNamespace,
  watchNamespaces,
  className,
  allowedHosts,
  workers,
  identity,
  leaseDuration,
  adoptData,
  onDataLoss,
  host: { ...host, fallback: "0.0.0.0" },
  adminPort,
  adminTokenFile,
  logLevel,
};

export type OperatorSettings = CommandSettings<typeof settings, "redis" | "publicUrl">;

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
