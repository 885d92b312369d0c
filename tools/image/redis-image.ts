// An image of Redis with JSON for tests where none can be pulled: the Redis of tools/parts,
// redis-cli and the module, at the places where the chart looks in the public one, and the shell
// commands that run in it: those of backup and restore in docs/operations.md, and of deploy/ha.

import { existsSync } from "node:fs";
import { readdir, readFile, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Environment } from "../parts/cache.ts";
import { partMissing } from "../parts/part.ts";
import { onPath } from "../parts/programs.ts";
import { findRedis } from "../parts/redis.ts";
import type { ImageSettings } from "./archive.ts";
import { type Program, writeRootFolder } from "./root-folder.ts";

export const redisSettings: ImageSettings = {
  name: "jsonplane-redis:test",
  entrypoint: ["redis-server"],
  command: ["--loadmodule", "/usr/local/lib/redis/modules/rejson.so"],
  user: "999:999",
  workingFolder: "/data",
  ports: ["6379/tcp"],
};

export async function writeRedisRoot(folder: string, env: Environment): Promise<void> {
  const { server, module } = await findRedis(env);
  const installed = await programs(server, env);
  const json: Program = { source: module, path: "/usr/local/lib/redis/modules/rejson.so" };
  await writeRootFolder(folder, [...installed, json], { name: "redis", id: 999 }, ["data"]);
}

async function programs(server: string, env: Environment): Promise<readonly Program[]> {
  const unpacked = await unpackedFolder(server);
  const bin = unpacked ? join(unpacked, "usr/bin") : dirname(await realpath(server));
  const client = [join(bin, "redis-cli"), onPath("redis-cli", env) ?? ""].find((path) => existsSync(path));
  if (!client)
    throw partMissing(`There is no redis-cli beside ${server}`, ["Debian, Ubuntu: sudo apt-get install redis-tools"]);
  const library = unpacked ? await libraryFolder(unpacked) : undefined;
  const shared = library === undefined ? {} : { libraries: library };
  const source = unpacked ? join(bin, "redis-server") : server;
  return [
    { source, path: "/usr/local/bin/redis-server", ...shared },
    { source: client, path: "/usr/local/bin/redis-cli", ...shared },
    ...shellCommands(env),
  ];
}

function shellCommands(env: Environment): readonly Program[] {
  return ["sh", "cat", "grep", "mkdir", "mv", "rm", "sleep", "wc"].map((name) => {
    const source = onPath(name, env);
    if (!source)
      throw partMissing(`There is no ${name} on PATH`, ["Debian, Ubuntu: sudo apt-get install coreutils dash"]);
    return { source, path: `/usr/bin/${name}` };
  });
}

/**
 * Where tools/parts/redis-server.ts put a Debian package: its server is a script that names the
 * libraries' folder.
 */
async function unpackedFolder(server: string): Promise<string | undefined> {
  const start = (await readFile(server)).subarray(0, 2).toString("latin1");
  return start === "#!" ? dirname(server) : undefined;
}

async function libraryFolder(unpacked: string): Promise<string | undefined> {
  const names = await readdir(join(unpacked, "usr/lib"));
  const name = names.find((found) => found.includes("-linux-gnu"));
  return name === undefined ? undefined : join(unpacked, "usr/lib", name);
}
