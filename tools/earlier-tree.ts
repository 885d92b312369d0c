// The files of an earlier commit of this repository, in a folder of their own: what this version is upgraded from, or measured against.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Finished, lastWords, runCommand } from "./parts/run-command.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/**
 * Commits whose whole suite passed, oldest first: one between two of them may have a defect of its own. Each landing adds its commit, and
 * a release removes all before it. A commit's tests upgrade from the newest, the nightly tier from the oldest and two others.
 */
export const landings = [
  "51126fa4a034ee1f442bbc7890b765b12196d4da",
  "f171225d7e1adaa58200837d9eddd829f0d6efa8",
  "4fdaa20fa07976d8c388c6f45b66daa455f8f83f",
  "bfa0c454bf517e30117956bf86fade83b4d1680e",
  "f6f0b000b14ca8ee65660030dbe6077af8ef4ae8",
  "8b2dd369905382a7fb8551c125e668a2cfd55527",
  "715a649ed4464f0c1f51838641f4248bf53664f7",
  "d50b071615c524e5670666425a068212a2e2f663",
  "8772e6e435e08fe2e1a84514b776771819aa80a0",
  "df55a88514b42aa7f08e76a4f6d686c80b350ab7",
  "0ec6a54de333f9cabb3474001228a90a47256a6e",
  "18d159b6fdfe8f38c6f4822b77fa35e9a989b7f9",
  "43f63a056cf9354237b2f9fb705b49c071ae612e",
  "b07fe914a9d6b0e787d3cc82630b712198ac34ff",
  "7e1487904fdfea28bab27e2e3057510735841af8",
  "24e1cc0eabbb060383948b5c906e522d46f80d28",
  "c753d74f8cb93eca8d3c502ed330885c10ecb651",
  "935879435d3e914f15d8f3ddb6426d6b28ef6b8f",
  "d77e6056b163f6ba02b9ffd30c91c7919fd049d7",
  "729c1c374d753c77da07321cfdd0265c55e0ab49",
] as const;
export const lastLanding: string = landings.at(-1) ?? landings[0];

export interface EarlierTree {
  readonly path: string;
  readonly commit: string;
  /** Runs a program in it, `npm` for one; rejects with its last words when it fails. */
  run(program: string, ...args: readonly string[]): Promise<Finished>;
  remove(): Promise<void>;
}

/** Undefined when this clone has no such commit: it is shallow, or an archive. */
export async function earlierTree(name: string): Promise<EarlierTree | undefined> {
  const commit = await commitOf(name);
  if (commit === undefined) return undefined;
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-earlier-"));
  const path = join(folder, "tree");
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    await succeed(runCommand("git", ["clone", "--quiet", "--shared", "--no-checkout", root, path]));
    await succeed(runCommand("git", ["checkout", "--quiet", "--detach", commit], { cwd: path }));
  } catch (error) {
    await remove();
    throw error;
  }
  return { path, commit, run: (program, ...args) => succeed(runCommand(program, args, { cwd: path })), remove };
}

/** The full name of a commit; undefined when this clone does not have it. */
export async function commitOf(name: string): Promise<string | undefined> {
  const found = await runCommand("git", ["rev-parse", "--verify", "--quiet", `${name}^{commit}`], { cwd: root });
  return found.code === 0 ? found.stdout.trim() : undefined;
}

async function succeed(running: Promise<Finished>): Promise<Finished> {
  const done = await running;
  if (done.code !== 0) throw new Error(`The earlier version could not be made: ${lastWords(done, 20)}`);
  return done;
}
