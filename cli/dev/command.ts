// `jsonplane dev DIR`: serves a folder of manifests, without a cluster and without Redis.

import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { adminPort, data, host, logLevel, port, publicUrl, redis, trustedProxies } from "../../core/env/settings.ts";
import { defineCommand } from "../command.ts";

export const devCommand = defineCommand({
  name: "dev",
  summary: "Serve a folder of manifests and follow its changes",
  argument: { name: "DIR", help: "Folder of manifests (*.yaml, *.yml, *.json), read with its subfolders" },
  settings: {
    host,
    port,
    adminPort,
    data,
    redis: { ...redis, help: `${redis.help}; default: an embedded store in --data` },
    logLevel: { ...logLevel, fallback: "warn" },
    publicUrl,
    trustedProxies,
  },
  run: async (settings, folder) => {
    // Half a second of every start but the first; in the data folder, because what lies there is run.
    enableCompileCache(join(settings.data, "cache"));
    const { runDev } = await import("./run-dev.ts");
    return await runDev({ ...settings, folder });
  },
});
