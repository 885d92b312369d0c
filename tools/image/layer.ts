// Packs a folder as a layer of an image. Equal folders make equal bytes: files are in order and of
// one age, and folders have one mode.

import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { chmod, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { lastWords, runCommand } from "../parts/run-command.ts";

/** Compresses it into `file`; returns the SHA-256 of what was compressed. */
export async function packLayer(folder: string, file: string): Promise<string> {
  const plain = `${file}.plain`;
  await openFolders(folder);
  await packTar(folder, plain, ["."]);
  const [digest] = await Promise.all([
    sha256Of(plain),
    pipeline(createReadStream(plain), createGzip(), createWriteStream(file)),
  ]);
  await rm(plain);
  return digest;
}

/** Whoever packs with another umask gets the same archive; /tmp is set already. */
export async function openFolders(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  for (const entry of entries.filter((found) => found.isDirectory())) {
    const path = join(entry.parentPath, entry.name);
    if (path !== join(folder, "tmp")) await chmod(path, 0o755);
  }
}

export async function packTar(folder: string, file: string, names: readonly string[]): Promise<void> {
  const order = ["--format=gnu", "--sort=name", "--mtime=@0", "--numeric-owner"];
  const owners = process.getuid?.() === 0 ? [] : ["--owner=0", "--group=0"];
  const done = await runCommand("tar", [...order, ...owners, "-C", folder, "-cf", file, ...names]);
  if (done.code !== 0) throw new Error(`GNU tar couldn't pack ${folder}: ${lastWords(done)}`);
}

export async function sha256Of(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const part of createReadStream(file)) hash.update(part as Buffer);
  return hash.digest("hex");
}
