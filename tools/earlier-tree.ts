// The files of an earlier commit of this repository, in a folder of their own: what this version is
// upgraded from, or measured against.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Finished, lastWords, runCommand } from "./parts/run-command.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The first commit whose stored formats later versions read: upgrades are tested from it. */
export const firstRelease = "9726f98535778c7437e81d8e9dd5c18a6eaba4f7";

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

/** False for a shallow clone, and for files without a repository. */
export async function hasWholeHistory(): Promise<boolean> {
  const found = await runCommand("git", ["rev-parse", "--is-shallow-repository"], { cwd: root });
  return found.code === 0 && found.stdout.trim() === "false";
}

async function succeed(running: Promise<Finished>): Promise<Finished> {
  const done = await running;
  if (done.code !== 0) throw new Error(`The earlier version could not be made: ${lastWords(done, 20)}`);
  return done;
}
