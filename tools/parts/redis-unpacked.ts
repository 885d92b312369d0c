// Unpacks Debian's Redis into the cache folder without installing it, for people who aren't root: the program, and the libraries
// that not every machine has. Answers with the program's path, or why there is none.

import { chmod, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cachedFolder, cacheFolder, type Environment } from "./cache.ts";
import { onPath } from "./programs.ts";
import { lastWords, runCommand } from "./run-command.ts";

const packages = ["redis-tools", "libatomic1", "libjemalloc2", "liblzf1"] as const;

export type Unpacked = { readonly server: string } | { readonly refusal: string };

export async function unpackedServer(env: Environment): Promise<Unpacked> {
  const aptGet = onPath("apt-get", env);
  const dpkg = onPath("dpkg-deb", env);
  if (!aptGet || !dpkg) return { refusal: "there is no Debian package to unpack" };
  try {
    const folder = await cachedFolder(cacheFolder(env), "redis-debian", (draft) => unpack(draft, aptGet, dpkg));
    const server = join(folder, "redis-server");
    const version = await runCommand(server, ["--version"]);
    return version.code === 0 ? { server } : { refusal: `the unpacked one doesn't run: ${lastWords(version)}` };
  } catch (error) {
    if (error instanceof UnpackFailed) return { refusal: error.message };
    throw error;
  }
}

class UnpackFailed extends Error {
  override readonly name = "UnpackFailed";
}

async function unpack(folder: string, aptGet: string, dpkg: string): Promise<void> {
  await demand(aptGet, ["-q", "download", ...packages], folder);
  const archives = (await readdir(folder)).filter((name) => name.endsWith(".deb"));
  for (const archive of archives) await demand(dpkg, ["--extract", archive, "."], folder);
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

async function demand(command: string, args: readonly string[], cwd: string): Promise<void> {
  const done = await runCommand(command, args, { cwd });
  if (done.code !== 0) throw new UnpackFailed(`${command} ${args[0]}: ${lastWords(done)}`);
}
