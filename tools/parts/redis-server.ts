// A redis-server program: JSONPLANE_REDIS_SERVER, then the PATH, Redis Stack's own folder, the
// cache, then (Debian and Ubuntu) apt-get: it is installed as root or with a sudo that asks
// nothing, else unpacked into the cache.

import { chmod, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheFolder, type Environment, fillCacheFolder } from "./cache.ts";
import { DebianFailed, installDebianPackage, unpackPackages } from "./debian-packages.ts";
import { type Part, partMissing } from "./part.ts";
import { isAtLeast, programVersion } from "./program-version.ts";
import { foundOnPath, isProgram, namedProgram, onPath } from "./programs.ts";
import { lastWords, runCommand } from "./run-command.ts";

const variable = "JSONPLANE_REDIS_SERVER";
const oldest = "7.0";
const redisStack = "/opt/redis-stack/bin/redis-server";
/** Folders of the cache: a link to Debian's program, or its packages unpacked. */
const linked = "redis-server";
const unpacked = "redis-debian";
const packages = ["redis-tools", "libatomic1", "libjemalloc2", "liblzf1"] as const;

const ways: readonly string[] = [
  "Debian, Ubuntu: sudo apt-get install redis-server (7.0 or newer)",
  "macOS: brew install redis (7.0 or newer), or Redis Stack",
  `or set ${variable} to the path of a redis-server program`,
];

export const redisServer: Part = {
  name: "redis-server",
  firstTime: "installed by apt-get (redis-tools), some seconds",
  ways,
  variable,
  async find(env) {
    const named = namedProgram(variable, env, ways);
    if (named !== undefined) return named;
    const present = foundOnPath(["redis-server"], env);
    if (present !== undefined && (await isNewEnough(present.path))) return present;
    if (isProgram(redisStack)) return { path: redisStack, origin: "system" };
    const path = [linked, unpacked].map((folder) => join(cacheFolder(env), folder, "redis-server")).find(isProgram);
    return path === undefined ? undefined : { path, origin: "cache" };
  },
  async bring(env) {
    const reasons: string[] = [];
    for (const way of [link, unpack]) {
      try {
        await way(env);
        return;
      } catch (error) {
        if (!(error instanceof DebianFailed)) throw error;
        reasons.push(error.message);
      }
    }
    throw partMissing(`redis-server is missing; ${reasons.join("; ")}`, ways);
  },
  versionOf: async ({ path }) => (await programVersion(path, ["--version"]))?.text,
};

async function isNewEnough(path: string): Promise<boolean> {
  const version = await programVersion(path, ["--version"]);
  return version !== undefined && isAtLeast(version, oldest);
}

/**
 * Redis is one program that acts by its name. Debian keeps it in redis-tools as redis-check-rdb;
 * the package redis-server adds only a link, and a service on port 6379 that nobody asked for.
 */
async function link(env: Environment): Promise<void> {
  const name = "redis-check-rdb";
  if (onPath(name, env) === undefined) await installDebianPackage("redis-tools", env);
  const program = onPath(name, env);
  if (program === undefined) throw new DebianFailed("the package redis-tools brought no server");
  await fillCacheFolder(cacheFolder(env), linked, (draft) => symlink(program, join(draft, "redis-server")));
}

/** The program, and the libraries that not every machine has. */
async function unpack(env: Environment): Promise<void> {
  await fillCacheFolder(cacheFolder(env), unpacked, async (draft) => {
    await unpackPackages(env, packages, draft);
    await symlink("redis-check-rdb", join(draft, "usr/bin/redis-server"));
    const start = join(draft, "redis-server");
    await writeFile(start, starter);
    await chmod(start, 0o755);
    const version = await runCommand(start, ["--version"]);
    if (version.code !== 0) throw new DebianFailed(`the unpacked one doesn't run: ${lastWords(version)}`);
  });
}

const starter = `#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd -P)
LD_LIBRARY_PATH=$(echo "$here"/usr/lib/*-linux-gnu*)
export LD_LIBRARY_PATH
exec "$here/usr/bin/redis-server" "$@"
`;
