// Says where dev mode keeps its data when no --data does: below .jsonplane/, in a folder for each folder of manifests, so that the data of one
// are never in the way of another. An earlier version kept one folder's data in .jsonplane/ itself; for that folder they stay there.

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathFrom, readBinding } from "./data-binding.ts";

const parent = ".jsonplane";
const maxNameCharacters = 40;

export async function chooseDataFolder(manifests: string): Promise<string> {
  return (await isFormerDataOf(manifests)) ? parent : join(parent, dataFolderName(manifests));
}

/** What names no manifests is theirs who come first, as it was then. */
async function isFormerDataOf(manifests: string): Promise<boolean> {
  const bound = await readBinding(parent);
  return bound === undefined ? existsSync(join(parent, "objects.json")) : bound === pathFrom(parent, manifests);
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
