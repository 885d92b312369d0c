// A copy of the working tree as it is now, uncommitted changes included, in a folder of its own: what is mutated there is never
// seen by whoever edits or commits here.

import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runOrThrow } from "../../tools/parts/run-command.ts";
import { writeTree } from "../../tools/test-run/tree-state.ts";
import type { Mutation } from "./mutation.ts";

export interface WorkingCopy {
  readonly path: string;
  /** Runs `work` while the mutation is in place. Throws MutationOutdated where it can't be put in. */
  mutated<T>(mutation: Mutation, work: () => Promise<T>): Promise<T>;
  remove(): Promise<void>;
}

/** The code has changed since the mutation was written: its text stands nowhere any more, or more than once. */
export class MutationOutdated extends Error {
  override readonly name = "MutationOutdated";
}

export async function copyWorkingTree(root: string): Promise<WorkingCopy> {
  const path = await mkdtemp(join(tmpdir(), "jsonplane-mutations-"));
  const archive = join(path, "tree.tar");
  await runOrThrow("git", ["archive", "--format=tar", `--output=${archive}`, await writeTree(root)], { cwd: root });
  await runOrThrow("tar", ["-xf", archive], { cwd: path });
  await rm(archive);
  await symlink(join(root, "node_modules"), join(path, "node_modules"));
  return {
    path,
    async mutated(mutation, work) {
      const file = join(path, mutation.file);
      const text = await readFile(file, "utf8");
      await writeFile(file, mutatedText(text, mutation));
      try {
        return await work();
      } finally {
        await writeFile(file, text);
      }
    },
    remove: () => rm(path, { recursive: true, force: true }),
  };
}

export function mutatedText(text: string, { find, replace, file }: Mutation): string {
  const pieces = text.split(find);
  if (pieces.length !== 2) {
    throw new MutationOutdated(`the text to replace stands ${pieces.length - 1} times in ${file}, not once`);
  }
  return pieces.join(replace);
}
