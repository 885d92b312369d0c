// Runs the tests that are meant for a mutation, and tells whether they noticed it. A test that fails notices; a file that can't even be
// loaded has tested nothing.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { lastWords, runCommand } from "../../tools/parts/run-command.ts";
import { reportOrNothing, verdictsOf } from "../../tools/test-run/vitest-report.ts";
import type { Mutation } from "./mutation.ts";
import { MutationOutdated, type WorkingCopy } from "./working-copy.ts";

export type Verdict =
  /** `by` = the first test that failed. */
  | { readonly outcome: "caught"; readonly by: string }
  /** All tests passed: nothing holds what the mutation broke. */
  | { readonly outcome: "survived" }
  /** The mutation tested nothing: its text is gone, or the mutated code can't be loaded. */
  | { readonly outcome: "unusable"; readonly why: string };

/** Long enough for a test that waits for what never comes: its own limit ends it. */
const maxMilliseconds = 900_000;

export async function checkMutation(copy: WorkingCopy, mutation: Mutation): Promise<Verdict> {
  try {
    return await copy.mutated(mutation, async () => verdictOf(await runTests(copy, mutation.caughtBy)));
  } catch (error) {
    if (error instanceof MutationOutdated) return { outcome: "unusable", why: error.message };
    throw error;
  }
}

/** Names of the tests of these files that fail without any mutation; what they say of one is worth nothing. */
export async function failuresWithout(copy: WorkingCopy, files: readonly string[]): Promise<readonly string[]> {
  const { code, failed, output } = await runTests(copy, files);
  return code !== 0 && failed.length === 0 ? [output] : failed;
}

interface TestRun {
  readonly code: number;
  readonly passed: number;
  readonly failed: readonly string[];
  /** The end of what vitest printed. */
  readonly output: string;
}

function verdictOf({ code, passed, failed, output }: TestRun): Verdict {
  const [first] = failed;
  if (first !== undefined && passed > 0) return { outcome: "caught", by: first };
  if (code === 0) return { outcome: "survived" };
  // A script or a module that is broken altogether fails everything, which shows nothing of the one promise.
  return { outcome: "unusable", why: first === undefined ? output : `every test failed, ${first} first` };
}

async function runTests({ path }: WorkingCopy, files: readonly string[]): Promise<TestRun> {
  const report = join(path, "mutation-report.json");
  await rm(report, { force: true });
  const projects = [...new Set(files.map((file) => file.split("/")[1] ?? ""))];
  const args = [
    ...["run", ...projects.flatMap((project) => ["--project", project])],
    ...["--reporter=json", `--outputFile.json=${report}`, ...files],
  ];
  const vitest = join(path, "node_modules/.bin/vitest");
  const done = await runCommand(vitest, args, { cwd: path, timeout: maxMilliseconds });
  const { tests } = verdictsOf(await reportOrNothing(report), path, files);
  return {
    code: done.code,
    passed: tests.filter((test) => test.passed).length,
    failed: tests.filter((test) => !test.passed).map(({ name }) => name),
    output: lastWords(done),
  };
}
