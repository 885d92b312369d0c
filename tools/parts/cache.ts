// The cache folder for parts that were fetched or built: JSONPLANE_CACHE, else
// XDG_CACHE_HOME/jsonplane, else ~/.cache/jsonplane. A folder appears in it whole or not at all, so
// that an interrupted fetch leaves nothing that looks like a part.

import { mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

export function cacheFolder(env: Environment): string {
  if (env.JSONPLANE_CACHE) return resolve(env.JSONPLANE_CACHE);
  if (env.XDG_CACHE_HOME) return join(env.XDG_CACHE_HOME, "jsonplane");
  return join(env.HOME || homedir(), ".cache", "jsonplane");
}

/**
 * Makes `<parent>/<name>`: `fill` makes its content in a temporary folder next to it, which is then
 * renamed. Called under the part's lock, and when the part was not found: what an earlier process
 * left of such a temporary folder is nobody's and goes first, and a folder of that name is damaged
 * and is replaced. What `fill` throws is passed on, and nothing is left behind.
 */
export async function fillCacheFolder(
  parent: string,
  name: string,
  fill: (folder: string) => Promise<void>,
): Promise<string> {
  const final = join(parent, name);
  await mkdir(parent, { recursive: true });
  const prefix = `.${name}-`;
  for (const left of await readdir(parent)) {
    if (left.startsWith(prefix)) await rm(join(parent, left), { recursive: true, force: true });
  }
  const draft = await mkdtemp(join(parent, prefix));
  try {
    await fill(draft);
    await rm(final, { recursive: true, force: true });
    await rename(draft, final);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return final;
}
