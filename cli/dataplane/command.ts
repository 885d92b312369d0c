// `jsonplane dataplane`: one replica of the data plane, from Redis alone.

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
  replica,
  trustedProxies,
} from "../../core/env/settings.ts";
import { defineCommand } from "../command.ts";

export const dataplaneCommand = defineCommand({
  name: "dataplane",
  summary: "Serve the projects that are published in Redis: one replica of many",
  settings: {
    redis,
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
  },
  needs: ["redis", "keyring"],
  run: async (settings) => {
    const { runDataplane } = await import("./run-dataplane.ts");
    return await runDataplane(settings);
  },
});
