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
import { type CommandSettings, defineCommand } from "../command.ts";

const settings = {
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
};

export type DataplaneSettings = CommandSettings<typeof settings, "redis" | "keyring">;

export const dataplaneCommand = defineCommand({
  name: "dataplane",
  summary: "Serve the projects that are published in Redis: one replica of many",
  settings,
  needs: ["redis", "keyring"],
  run: async (given) => {
    const { runDataplane } = await import("./run-dataplane.ts");
    return await runDataplane(given);
  },
});
