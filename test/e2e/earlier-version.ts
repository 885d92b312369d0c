// The version that is upgraded from: chart and program of an earlier commit, unpacked, built and packed in a folder of its own.
// JSONPLANE_E2E_FROM names the commit. Without it, it is the last one whose whole suite passed: a commit between two landings may have
// a defect of its own. Where no such history is at hand (a shallow clone, an archive), this tree itself is upgraded to itself, under
// another image name.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Environment } from "../../tools/parts/cache.ts";
import { type Finished, lastWords, runCommand } from "../../tools/parts/run-command.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Moved on with each landing. */
const lastGood = "51126fa4a034ee1f442bbc7890b765b12196d4da";

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
  const commit = await commitOf(named || lastGood);
  if (commit === undefined && named) {
    throw new Error(
      `JSONPLANE_E2E_FROM is ${named}: this clone has no such commit (git fetch --unshallow fetches all of them)`,
    );
  }
  if (commit === undefined) return undefined;
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-earlier-"));
  const tree = join(folder, "tree");
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    await succeed(runCommand("git", ["clone", "--quiet", "--shared", "--no-checkout", root, tree]));
    await succeed(runCommand("git", ["checkout", "--quiet", "--detach", commit], { cwd: tree }));
  } catch (error) {
    await remove();
    throw error;
  }
  return { chart: join(tree, "charts/jsonplane"), pack: () => packTree(tree), remove };
}

async function packTree(tree: string): Promise<{ file: string; name: string }> {
  const steps = [
    ["npm", "ci", "--no-audit", "--no-fund"],
    ["npm", "run", "--silent", "build"],
    ["node", "tools/image/pack.ts", "jsonplane"],
  ] as const;
  let printed = "";
  for (const [program, ...args] of steps) printed = (await succeed(runCommand(program, args, { cwd: tree }))).stdout;
  const [, name, file] = /^Packed (\S+) as (\S+)$/m.exec(printed) ?? [];
  if (!name || !file)
    throw new Error(`The earlier version's tools/image/pack.ts did not say what it packed: ${printed}`);
  return { file, name };
}

/** Undefined when this clone has no such commit. */
async function commitOf(name: string): Promise<string | undefined> {
  const { code, stdout } = await runCommand("git", ["rev-parse", "--verify", "--quiet", `${name}^{commit}`], {
    cwd: root,
  });
  return code === 0 ? stdout.trim() : undefined;
}

async function succeed(running: Promise<Finished>): Promise<Finished> {
  const done = await running;
  if (done.code !== 0) throw new Error(`The earlier version could not be made: ${lastWords(done, 20)}`);
  return done;
}
