// An earlier version of this project as a part: the chart and the image of one commit, which the
// journeys of an installation upgrade from. Built from the clone's own history into the cache, once
// for each commit.

import { existsSync } from "node:fs";
import { copyFile, cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { commitOf, earlierTree, firstRelease, hasWholeHistory } from "../earlier-tree.ts";
import { cacheFolder, type Environment, fillCacheFolder } from "./cache.ts";
import { type Part, partMissing, requirePart } from "./part.ts";

const ways = ["run it in a clone with the whole history: git fetch --unshallow"];

export interface EarlierVersion {
  /** Path of its chart. */
  readonly chart: string;
  /** Path of the archive that holds its image. */
  readonly archive: string;
  /** What a pod calls that image. */
  readonly image: string;
}

/**
 * What the journeys upgrade from: the commit that JSONPLANE_E2E_FROM names, else `firstRelease`.
 * Undefined in a shallow clone or an archive that lacks `firstRelease`: then this tree is upgraded
 * to itself. Throws where the commit must be there and isn't.
 */
export async function upgradedFrom(env: Environment): Promise<Part | undefined> {
  const named = env.JSONPLANE_E2E_FROM;
  const commit = await commitOf(named || firstRelease);
  if (commit !== undefined) return versionOf(commit);
  if (named) throw partMissing(`JSONPLANE_E2E_FROM is ${named}, and this clone has no such commit`, ways);
  if (await hasWholeHistory()) throw partMissing(`This clone has no commit ${firstRelease}, the first release`, ways);
  return undefined;
}

function versionOf(commit: string): Part {
  const short = commit.slice(0, 12);
  const name = `jsonplane ${short}`;
  const folderName = `jsonplane-${short}`;
  return {
    name,
    firstTime: "built from this clone's history, some 30 seconds",
    ways,
    variable: undefined,
    async find(env) {
      const path = join(cacheFolder(env), folderName);
      return existsSync(path) ? { path, origin: "cache" } : undefined;
    },
    async bring(env, { onProgress }) {
      const tree = await earlierTree(commit);
      if (tree === undefined) throw partMissing(`This clone has no commit ${commit}`, ways);
      try {
        await fillCacheFolder(cacheFolder(env), folderName, async (draft) => {
          onProgress("installing its packages");
          await tree.run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund");
          onProgress("building its image");
          await tree.run("npm", "run", "--silent", "build");
          const { stdout } = await tree.run("node", "tools/image/pack.ts", "jsonplane");
          const [, image, file] = /^Packed (\S+) as (\S+)$/m.exec(stdout) ?? [];
          if (!image || !file) throw partMissing(`${name}: tools/image/pack.ts did not say what it packed`, ways);
          await copyFile(file, join(draft, "image.tar"));
          await writeFile(join(draft, "image-name"), image);
          await cp(join(tree.path, "charts/jsonplane"), join(draft, "chart"), { recursive: true });
        });
      } finally {
        await tree.remove();
      }
    },
    versionOf: async () => short,
  };
}

/** Throws PartMissing when it was not brought. */
export async function findEarlierVersion(env: Environment, part: Part): Promise<EarlierVersion> {
  const folder = await requirePart(env, part);
  const image = await readFile(join(folder, "image-name"), "utf8");
  return { chart: join(folder, "chart"), archive: join(folder, "image.tar"), image };
}
