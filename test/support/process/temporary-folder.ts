// A temporary folder that goes with this process, also where that ends between making the folder
// and starting what is to live in it. What is killed without a chance to remove it leaves that to
// the watchdog of the programs in it.

import { mkdtempSync, rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TemporaryFolder {
  readonly path: string;
  remove(): Promise<void>;
}

/** One listener for all folders: Node warns of a process that has eleven. */
const present = new Set<string>();
const removeAll = (): void => {
  for (const path of present) rmSync(path, { recursive: true, force: true });
};

export function temporaryFolder(prefix: string): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), prefix));
  if (present.size === 0) process.once("exit", removeAll);
  present.add(path);
  return {
    path,
    async remove() {
      await rm(path, { recursive: true, force: true });
      present.delete(path);
      if (present.size === 0) process.off("exit", removeAll);
    },
  };
}
