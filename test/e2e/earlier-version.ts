// The version that is upgraded from: chart and program of an earlier commit, unpacked, built and packed in a folder of its own.
// JSONPLANE_E2E_FROM names the commit; without it, it is the last good one. Where no such history is at hand (a shallow clone, an
// archive), this tree itself is upgraded to itself, under another image name.

import { join } from "node:path";
import type { Environment } from "../../tools/parts/cache.ts";
import { type EarlierTree, earlierTree, lastGood } from "../support/earlier-tree.ts";

export interface EarlierVersion {
  /** Path of its chart. */
  readonly chart: string;
  /** Builds and packs its image; path of the archive and the name in it. */
  pack(): Promise<{ readonly file: string; readonly name: string }>;
  remove(): Promise<void>;
}

/** Undefined where no earlier one is at hand. Throws for a named commit that is not there. */
export async function findEarlierVersion(env: Environment): Promise<EarlierVersion | undefined> {
  const named = env.JSONPLANE_E2E_FROM;
  const tree = await earlierTree(named || lastGood);
  if (tree === undefined && named) {
    throw new Error(
      `JSONPLANE_E2E_FROM is ${named}: this clone has no such commit (git fetch --unshallow fetches all of them)`,
    );
  }
  if (tree === undefined) return undefined;
  return { chart: join(tree.path, "charts/jsonplane"), pack: () => packTree(tree), remove: tree.remove };
}

async function packTree(tree: EarlierTree): Promise<{ file: string; name: string }> {
  await tree.run("npm", "ci", "--no-audit", "--no-fund");
  await tree.run("npm", "run", "--silent", "build");
  const { stdout } = await tree.run("node", "tools/image/pack.ts", "jsonplane");
  const [, name, file] = /^Packed (\S+) as (\S+)$/m.exec(stdout) ?? [];
  if (!name || !file)
    throw new Error(`The earlier version's tools/image/pack.ts did not say what it packed: ${stdout}`);
  return { file, name };
}
