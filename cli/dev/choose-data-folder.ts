// Says where dev mode keeps its data when no --data does: below .jsonplane/, in a folder for each folder of manifests, so that the data of one
// are never in the way of another.

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join, relative, resolve } from "node:path";
import { pathFrom, readBinding } from "./data-binding.ts";

const parent = ".jsonplane";
const maxNameCharacters = 40;

export function chooseDataFolder(manifests: string): string {
  return join(parent, dataFolderName(manifests));
}

/** Other folders with data of the same manifests: dev mode was started in DIR, or in a folder above it, and keeps data below where it starts. */
export async function otherDataFolders(manifests: string, used: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (let above = resolve(manifests); ; above = dirname(above)) {
    const own = join(above, parent);
    for (const folder of [own, ...(await foldersIn(own))]) {
      if (folder !== resolve(used) && (await hasDataOf(folder, manifests))) found.push(relative("", folder));
    }
    if (above === dirname(above)) return found;
  }
}

/** None where it can't be read. */
async function foldersIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
}

async function hasDataOf(folder: string, manifests: string): Promise<boolean> {
  if (!existsSync(join(folder, "objects.json"))) return false;
  return (await readBinding(folder).catch(() => undefined)) === pathFrom(folder, manifests);
}

/**
 * The name is for people, the hash tells apart what has one name. It is made from the path that leads from here, so that data stay found when
 * everything is moved together.
 */
function dataFolderName(manifests: string): string {
  const hash = createHash("sha256").update(pathFrom(parent, manifests)).digest("hex").slice(0, 8);
  const plain = basename(resolve(manifests)).replaceAll(/[^\p{L}\p{N}._-]+/gu, "-");
  return `${[...plain].slice(0, maxNameCharacters).join("")}-${hash}`;
}
