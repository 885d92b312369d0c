// `npm run check` and `npm test`: static checks, then tests (unit and meta, or all), then for a full run the record that
// `npm run spec` reads. The last line is `N passed, N failed`; a failed check, a skipped test and a test file that didn't run
// count as failed, and the exit code is 1 then.

import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { type FullRun, reportFile, writeFullRun } from "./gate/full-run.ts";
import { type Project, projects, runTests } from "./gate/run-tests.ts";
import { runStaticChecks } from "./gate/static-checks.ts";
import { treeState } from "./gate/tree-state.ts";
import { judgeRows, unprovedRows } from "./spec/judge-rows.ts";
import { readRows } from "./spec/read-rows.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const quick: readonly Project[] = ["unit", "meta"];

async function check(): Promise<number> {
  const broken = await runStaticChecks(root);
  const verdicts = await runTests(root, quick, "test-results/check.json");
  return summary(broken, verdicts.complaints, { passed: verdicts.passed, failed: verdicts.failed + broken.length });
}

async function all(): Promise<number> {
  await rm(`${root}/test-results`, { recursive: true, force: true });
  const before = await treeState(root);
  const broken = await runStaticChecks(root);
  const verdicts = await runTests(root, projects, reportFile);
  const after = await treeState(root);
  const record = { before, after, finished: new Date().toISOString(), tests: verdicts.tests };
  const open = await openRows({ ...record, passed: 0, failed: 0 });
  const counts = { passed: verdicts.passed, failed: verdicts.failed + broken.length + open.length };
  await writeFullRun(root, { ...counts, ...record });
  return summary(broken, [...verdicts.complaints, ...open], counts);
}

/** Says how many promises of the interface this run proved; returns the unproved ones when docs/spec-rows.yaml enforces them. */
async function openRows(run: FullRun): Promise<readonly string[]> {
  const { rows, enforce } = await readRows(root);
  const verdicts = judgeRows(rows, run);
  const open = unprovedRows(verdicts);
  console.log(
    `${verdicts.filter((verdict) => verdict.proved).length} of ${rows.length} promises of the interface proved (npm run spec lists them)`,
  );
  return enforce ? open.map(({ row, note }) => `${row.id} is not proved: ${note}`) : [];
}

interface Counts {
  readonly passed: number;
  readonly failed: number;
}

function summary(broken: readonly string[], complaints: readonly string[], counts: Counts): number {
  for (const name of broken) console.log(`FAILED ${name} (npm run ${name} shows it alone)`);
  for (const complaint of complaints) console.log(`FAILED ${complaint}`);
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  return counts.failed === 0 ? 0 : 1;
}

const runs: Readonly<Record<string, () => Promise<number>>> = { check, all };
const run = runs[process.argv[2] ?? ""];
if (run === undefined) throw new Error(`tools/test.ts knows ${Object.keys(runs).join(" and ")}`);
process.exitCode = await run();
