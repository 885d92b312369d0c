// Unpacks Debian packages into a folder without installing them, for people who aren't root. Refuses with UnpackFailed.

import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Environment } from "./cache.ts";
import { onPath } from "./programs.ts";
import { lastWords, runCommand } from "./run-command.ts";

export class UnpackFailed extends Error {
  override readonly name = "UnpackFailed";
}

export async function unpackPackages(env: Environment, packages: readonly string[], folder: string): Promise<void> {
  const aptGet = onPath("apt-get", env);
  const dpkg = onPath("dpkg-deb", env);
  if (!aptGet || !dpkg) throw new UnpackFailed("there is no Debian package to unpack");
  await demand(aptGet, ["-q", "download", ...packages], folder);
  const archives = (await readdir(folder)).filter((name) => name.endsWith(".deb"));
  for (const archive of archives) {
    await demand(dpkg, ["--extract", archive, "."], folder);
    await rm(join(folder, archive));
  }
}

async function demand(command: string, args: readonly string[], cwd: string): Promise<void> {
  const done = await runCommand(command, args, { cwd });
  if (done.code !== 0) throw new UnpackFailed(`${command} ${args[0]}: ${lastWords(done)}`);
}
