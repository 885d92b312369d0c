// The record of the last full run, test-results/run.json: of which tree it is and how every test
// went. `npm run spec` and .ci/run read it; only a run of everything writes it, and removes those
// of runs on other versions of Kubernetes, which lie beside it.

import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { TreeState } from "./tree-state.ts";
import type { TestVerdict } from "./vitest-report.ts";

const folder = "test-results";
const recordFile = "run.json";
const onKubernetes = "run-on-kubernetes-";

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
  await writeRecord(root, recordFile, run);
}

export async function writeRunOnKubernetes(root: string, minor: string, run: FullRun): Promise<void> {
  await writeRecord(root, `${onKubernetes}${minor}.json`, run);
}

async function writeRecord(root: string, name: string, run: FullRun): Promise<void> {
  const path = join(root, folder, name);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${JSON.stringify(run, undefined, 1)}\n`);
}

export async function readFullRun(root: string): Promise<FullRun | undefined> {
  return orNone(readRecord(root, recordFile));
}

/** By version, the oldest first. */
export async function readRunsOnKubernetes(root: string): Promise<readonly FullRun[]> {
  const names = (await orNone(readdir(join(root, folder)))) ?? [];
  const records = names.filter((name) => name.startsWith(onKubernetes)).sort();
  return await Promise.all(records.map((name) => readRecord(root, name)));
}

async function readRecord(root: string, name: string): Promise<FullRun> {
  return JSON.parse(await readFile(join(root, folder, name), "utf8")) as FullRun;
}

/** Undefined where there is no such file or folder. */
async function orNone<T>(reading: Promise<T>): Promise<T | undefined> {
  return reading.catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
}
