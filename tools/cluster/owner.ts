// Which clone of this repository started the machine's cluster: there is one, for all of them. The
// clone that started it ends it; another one uses it, and is told whose it is.

import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const ownerFile = (folder: string): string => join(folder, "clone");

/**
 * `clone` = the folder of this one. Returns that of another one, to which the cluster belongs;
 * undefined = it is this one's from now on.
 */
export async function claimCluster(folder: string, clone: string): Promise<string | undefined> {
  const other = await otherOwner(folder, clone);
  if (other === undefined) await writeFile(ownerFile(folder), clone);
  return other;
}

/** Throws where the cluster is another clone's, which still is there. */
export async function requireOwnCluster(folder: string, clone: string): Promise<void> {
  const other = await otherOwner(folder, clone);
  if (other === undefined) return;
  throw new Error(`The cluster was started by the clone in ${other}: run make cluster-down there`);
}

async function otherOwner(folder: string, clone: string): Promise<string | undefined> {
  const owner = await readFile(ownerFile(folder), "utf8").catch(() => clone);
  return owner !== clone && existsSync(owner) ? owner : undefined;
}
