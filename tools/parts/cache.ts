// The cache folder for parts fetched from package registries: JSONPLANE_CACHE, else XDG_CACHE_HOME/jsonplane, else
// ~/.cache/jsonplane. A folder appears in it whole or not at all, so that two processes may fetch the same part at once.

import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

export function cacheFolder(env: Environment): string {
  if (env.JSONPLANE_CACHE) return env.JSONPLANE_CACHE;
  if (env.XDG_CACHE_HOME) return join(env.XDG_CACHE_HOME, "jsonplane");
  return join(env.HOME || homedir(), ".cache", "jsonplane");
}

/**
 * Returns `<cache>/<name>`; when it isn't there yet, `fill` makes its content in a temporary folder beside it, which is then
 * renamed. What `fill` throws is passed on, and nothing is left behind.
 */
export async function cachedFolder(
  cache: string,
  name: string,
  fill: (folder: string) => Promise<void>,
): Promise<string> {
  const final = join(cache, name);
  if (existsSync(final)) return final;
  await mkdir(cache, { recursive: true });
  const draft = await mkdtemp(join(cache, `.${name}-`));
  try {
    await fill(draft);
    await rename(draft, final).catch((error: NodeJS.ErrnoException) => {
      // Another process was faster; both made the same pinned content.
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return final;
}
