// Finds a redis-server program: JSONPLANE_REDIS_SERVER, then the PATH and Redis Stack's own folder, then (Debian and Ubuntu)
// apt-get: it is installed as root or with a sudo that asks nothing, else unpacked into the cache. Refuses with PartMissing,
// which says how to get one.

import { symlink } from "node:fs/promises";
import { join } from "node:path";
import { cachedFolder, cacheFolder, type Environment } from "./cache.ts";
import { PartMissing, partMissing } from "./part-missing.ts";
import { installDebianPackage, isProgram, onPath } from "./programs.ts";
import { unpackedServer } from "./redis-unpacked.ts";

const redisStack = "/opt/redis-stack/bin/redis-server";

const ways: readonly string[] = [
  "Debian, Ubuntu: sudo apt-get install redis-server (7.0 or newer)",
  "macOS: brew install redis (7.0 or newer), or Redis Stack",
  "or set JSONPLANE_REDIS_SERVER to the path of a redis-server program",
];

/** The path of a redis-server; installs Debian's when there is none and that is possible without a question. */
export async function findRedisServer(env: Environment): Promise<string> {
  const named = env.JSONPLANE_REDIS_SERVER;
  if (named) {
    if (isProgram(named)) return named;
    throw new PartMissing(`JSONPLANE_REDIS_SERVER names ${named}, which is not a program that can be run`);
  }
  const found = onPath("redis-server", env) ?? [redisStack].find(isProgram) ?? (await linkedServer(env));
  if (found) return found;
  const refusal = await installDebianPackage("redis-tools", env);
  const installed = refusal === undefined ? await linkedServer(env) : undefined;
  if (installed) return installed;
  const unpacked = await unpackedServer(env);
  if ("server" in unpacked) return unpacked.server;
  throw partMissing(
    `redis-server is missing; ${refusal ?? "the package redis-tools brought none"}; ${unpacked.refusal}`,
    ways,
  );
}

/**
 * Redis is one program that acts by its name. Debian keeps it in redis-tools as redis-check-rdb; the package redis-server
 * adds only a link, and a service on port 6379 that nobody asked for.
 */
async function linkedServer(env: Environment): Promise<string | undefined> {
  const program = onPath("redis-check-rdb", env);
  if (!program) return undefined;
  const folder = await cachedFolder(cacheFolder(env), "redis-server", (draft) =>
    symlink(program, join(draft, "redis-server")),
  );
  return join(folder, "redis-server");
}
