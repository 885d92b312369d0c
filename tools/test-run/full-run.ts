// The record of the last full run, test-results/run.json: of which tree it is and how every test
// went. `npm run spec` and .ci/run read it; only a run of everything writes it.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { TreeState } from "./tree-state.ts";
import type { TestVerdict } from "./vitest-report.ts";

const recordFile = "test-results/run.json";

export interface FullRun {
  readonly before: TreeState;
  /**
   * Another tree than `before` when files were edited while the tests ran: then the run proves
   * nothing.
   */
  readonly after: TreeState;
  readonly finished: string;
  readonly passed: number;
  readonly failed: number;
  readonly tests: readonly TestVerdict[];
  /** Versions of Node and the parts that it ran with, by name. */
  readonly parts?: Readonly<Record<string, string>>;
}

export async function writeFullRun(root: string, run: FullRun): Promise<void> {
  const path = join(root, recordFile);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${JSON.stringify(run, undefined, 1)}\n`);
}

export async function readFullRun(root: string): Promise<FullRun | undefined> {
  try {
    return JSON.parse(await readFile(join(root, recordFile), "utf8")) as FullRun;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}
