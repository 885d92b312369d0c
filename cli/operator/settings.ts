// What `jsonplane operator` can be given, by flags or environment variables.

import { backupMaxAge } from "../../core/env/backup-settings.ts";
import { matching } from "../../core/env/setting-readers.ts";
import {
  adminPort,
  adminTokenFile,
  adoptData,
  allowedHosts,
  allowedIssuers,
  guardRails,
  host,
  identity,
  kubeconfig,
  leaseDuration,
  logLevel,
  onDataLoss,
  operatorNamespace,
  publicUrl,
  redis,
  redisCaFile,
  redisSecret,
  redisTlsSecret,
  watchNamespaces,
  workers,
} from "../../core/env/settings.ts";
import { logLevels } from "../../core/log/logger.ts";
import { dnsSubdomain } from "../../core/manifests/metadata.ts";
import type { CommandSettings } from "../command.ts";

/** Some flags have other help texts here: the operator serves no requests and no /usage. */
export const settings = {
  redis,
  redisSecret,
  redisTlsSecret,
  redisCaFile,
  publicUrl: { ...publicUrl, help: "URL at which clients reach the API; status.baseURL and tokens begin with it" },
  kubeconfig,
  operatorNamespace,
  watchNamespaces,
  allowedHosts,
  allowedIssuers,
  guardRails,
  workers,
  identity,
  leaseDuration,
  adoptData,
  onDataLoss,
  backupMaxAge,
  host: { ...host, fallback: "0.0.0.0" },
  adminPort: { ...adminPort, help: "Port of probes and /metrics; 0 takes a free one" },
  adminTokenFile: {
    ...adminTokenFile,
    help: "File with the Bearer token that /metrics requires; read again when it changes; default: none is required",
  },
  adminTokenSecret: {
    flag: "admin-token-secret",
    placeholder: "NAME",
    help: "Secret in the operator's namespace whose entry token /metrics requires; created if it is missing",
    read: matching(dnsSubdomain, "the name of a Secret, such as jsonplane-admin-token"),
  },
  logLevel: { ...logLevel, help: `How much is logged to standard error: ${logLevels.join(", ")}` },
};

export type OperatorSettings = CommandSettings<typeof settings, "redis" | "publicUrl">;
