// Writes checksums.txt of the files in a folder, as `sha256sum --check checksums.txt` reads it.

import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sha256Of } from "../image/layer.ts";

export const checksumsFile = "checksums.txt";

export async function writeChecksums(folder: string): Promise<void> {
  const lines: string[] = [];
  for (const name of (await readdir(folder)).sort()) lines.push(`${await sha256Of(join(folder, name))}  ${name}\n`);
  await writeFile(join(folder, checksumsFile), lines.join(""));
}
