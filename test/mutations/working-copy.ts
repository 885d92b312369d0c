// A copy of the working tree as it is now, uncommitted changes included, so that mutations don't
// touch the files that somebody edits or commits.

import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runOrThrow } from "../../tools/parts/run-command.ts";
import { writeTree } from "../../tools/test-run/tree-state.ts";

export interface WorkingCopy {
  readonly path: string;
  remove(): Promise<void>;
}

export async function copyWorkingTree(root: string): Promise<WorkingCopy> {
  const path = await mkdtemp(join(tmpdir(), "jsonplane-mutations-"));
  const archive = join(path, "tree.tar");
  await runOrThrow("git", ["archive", "--format=tar", `--output=${archive}`, await writeTree(root)], { cwd: root });
  await runOrThrow("tar", ["-xf", archive], { cwd: path });
  await rm(archive);
  await symlink(join(root, "node_modules"), join(path, "node_modules"));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}
