// Writes checksums.txt of the files in a folder and below, as `sha256sum --check checksums.txt`
// reads it.

import { readdir, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { sha256Of } from "../image/layer.ts";

export const checksumsFile = "checksums.txt";

export async function writeChecksums(folder: string): Promise<void> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const files = entries.filter((entry) => entry.isFile());
  const names = files.map((file) => relative(folder, join(file.parentPath, file.name))).sort();
  const lines: string[] = [];
  for (const name of names) lines.push(`${await sha256Of(join(folder, name))}  ${name}\n`);
  await writeFile(join(folder, checksumsFile), lines.join(""));
}
