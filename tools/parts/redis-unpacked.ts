// Unpacks Debian's Redis into the cache folder without installing it, for people who aren't root: the program, and the libraries
// that not every machine has. Answers with the program's path, or why there is none.

import { chmod, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cachedFolder, cacheFolder, type Environment } from "./cache.ts";
import { UnpackFailed, unpackPackages } from "./debian-packages.ts";
import { lastWords, runCommand } from "./run-command.ts";

const packages = ["redis-tools", "libatomic1", "libjemalloc2", "liblzf1"] as const;

export type Unpacked = { readonly server: string } | { readonly refusal: string };

export async function unpackedServer(env: Environment): Promise<Unpacked> {
  try {
    const folder = await cachedFolder(cacheFolder(env), "redis-debian", (draft) => unpack(env, draft));
    const server = join(folder, "redis-server");
    const version = await runCommand(server, ["--version"]);
    return version.code === 0 ? { server } : { refusal: `the unpacked one doesn't run: ${lastWords(version)}` };
  } catch (error) {
    if (error instanceof UnpackFailed) return { refusal: error.message };
    throw error;
  }
}

async function unpack(env: Environment, folder: string): Promise<void> {
  await unpackPackages(env, packages, folder);
  // Redis is one program that acts by its name.
  await symlink("redis-check-rdb", join(folder, "usr/bin/redis-server"));
  const start = join(folder, "redis-server");
  await writeFile(start, starter);
  await chmod(start, 0o755);
}

const starter = `#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd -P)
LD_LIBRARY_PATH=$(echo "$here"/usr/lib/*-linux-gnu*)
export LD_LIBRARY_PATH
exec "$here/usr/bin/redis-server" "$@"
`;
