// `jsonplane dev DIR`: serves a folder of manifests, without a cluster and without Redis.

import { adminPort, data, host, logLevel, port, publicUrl, redis, trustedProxies } from "../../core/env/settings.ts";
import { type CommandSettings, defineCommand } from "../command.ts";

const settings = {
  host,
  port,
  adminPort,
  data,
  redis: { ...redis, help: `${redis.help}; default: an embedded store in --data` },
  logLevel: { ...logLevel, fallback: "warn" },
  publicUrl,
  trustedProxies,
};

export type DevSettings = CommandSettings<typeof settings, never>;

export const devCommand = defineCommand({
  name: "dev",
  summary: "Serve a folder of manifests and follow its changes",
  argument: { name: "DIR", help: "Folder of manifests (*.yaml, *.yml, *.json), read with its subfolders" },
  settings,
  run: async (given, folder) => {
    const { startDev } = await import("./start-dev.ts");
    return await startDev({ ...given, folder });
  },
});
