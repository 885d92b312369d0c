// Names the content of the working tree by Git's own hash, new files included and ignored ones not,
// so that a test report can be told to be of exactly this tree. Refuses outside a Git repository.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runOrThrow } from "../parts/run-command.ts";

export interface TreeState {
  readonly commit: string;
  /** Hash of the tree's content. */
  readonly tree: string;
}

/**
 * Which test proves which row is written next to the tests and changes no result; all else counts.
 */
const excluded = ":(exclude)docs/spec-rows.yaml";

export async function treeState(root: string): Promise<TreeState> {
  return { commit: await git(root, ["rev-parse", "HEAD"], {}), tree: await writeTree(root, excluded) };
}

/**
 * Stores the working tree's content in Git's database, outside every branch, and returns its hash.
 */
export async function writeTree(root: string, ...without: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-index-"));
  try {
    // An index of its own leaves the developer's staged changes alone.
    const env = { GIT_INDEX_FILE: join(folder, "index") };
    await git(root, ["add", "--all", "--", ".", ...without], env);
    return await git(root, ["write-tree"], env);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function git(root: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  return (await runOrThrow("git", args, { cwd: root, env })).stdout.trim();
}
