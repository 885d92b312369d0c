// What `jsonplane operator` can be given, by flags or environment variables.

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
  releaseName,
  watchNamespaces,
  workers,
} from "../../core/env/settings.ts";
import type { CommandSettings } from "../command.ts";

export const settings = {
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
  releaseName,
  leaseDuration,
  adoptData,
  onDataLoss,
  host: { ...host, fallback: "0.0.0.0" },
  adminPort,
  adminTokenFile,
  logLevel,
};

export type OperatorSettings = CommandSettings<typeof settings, "redis" | "publicUrl">;
