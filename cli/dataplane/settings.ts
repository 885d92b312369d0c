// What `jsonplane dataplane` can be given, by flags or environment variables.

import {
  adminPort,
  adminTokenFile,
  drain,
  host,
  keyring,
  logLevel,
  maxProjects,
  port,
  publicUrl,
  redis,
  redisCaFile,
  replica,
  trustedProxies,
} from "../../core/env/settings.ts";
import type { CommandSettings } from "../command.ts";

export const settings = {
  redis,
  redisCaFile,
  keyring,
  host: { ...host, fallback: "0.0.0.0" },
  port,
  adminPort,
  adminTokenFile,
  publicUrl,
  trustedProxies,
  replica,
  maxProjects,
  drain,
  logLevel,
};

export type DataplaneSettings = CommandSettings<typeof settings, "redis" | "keyring">;
