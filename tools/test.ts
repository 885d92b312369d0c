// `make check`, `make test`, `npm run test:nightly` and `npm run test:<group>`: `node tools/test.ts check|test|nightly|GROUP`.
//
// check   static checks, unit and meta tests: the gate before a push
// test    the parts, then everything that a commit must pass, and the record of it that `npm run spec` reads
// nightly the parts, then the same with many cases instead of few, then what takes too long for a commit (tools/nightly)
// GROUP   the parts of one kind of test, then vitest; further arguments go to vitest
//
// The last line of the first three is `N passed, N failed`; a failed check, a skipped test and a test file that didn't run count as
// failed, and the exit code is 1 then.

import { rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { runNightlySteps } from "./nightly/steps.ts";
import { bringParts } from "./parts/bring-parts.ts";
import { type PartGroup, partsOf } from "./parts/groups.ts";
import { WrongArguments } from "./script-arguments.ts";
import { checkRows, unprovedRows } from "./spec/check-rows.ts";
import { readRows } from "./spec/read-rows.ts";
import { startScript } from "./start-script.ts";
import { type FullRun, writeFullRun } from "./test-run/full-run.ts";
import { type Lane, type Project, printTimes, projects, runGroup, runTests } from "./test-run/run-tests.ts";
import { runStaticChecks } from "./test-run/static-checks.ts";
import { treeState } from "./test-run/tree-state.ts";
import { joinVerdicts } from "./test-run/vitest-report.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const cores = availableParallelism();
/** More files at a time than cores: leases of a second and the like are waited for. */
const quick: Lane = { name: "check", projects: ["unit", "meta"], workers: Math.max(4, cores) };
/**
 * Two lanes run side by side. Files of the heavy lane start several processes each and mostly wait for them, so three run at once to keep two cores
 * busy; the short files of `store` and `http`, which compute, come last and fill the gaps. On two quiet cores both lanes end after about the same
 * time.
 */
const whole: readonly Lane[] = [
  { name: "light", projects: ["process", "security"], workers: Math.max(1, Math.floor(cores / 2)) },
  {
    name: "heavy",
    projects: ["e2e", "image", "operator", "observability", "chart", "store", "http"],
    workers: Math.max(3, Math.floor(cores / 2)),
  },
];

async function check(): Promise<number> {
  const broken = await runStaticChecks(root);
  const verdicts = await runTests(root, [quick]);
  return summary(broken, verdicts.complaints, { passed: verdicts.passed, failed: verdicts.failed + broken.length });
}

async function test(): Promise<number> {
  await bring("test");
  return finish(await runAll());
}

async function nightly(): Promise<number> {
  await bring("nightly");
  process.env.JSONPLANE_TEST_TIER = "nightly";
  process.env.JSONPLANE_TEST_SEED ??= String(1 + Math.floor(Math.random() * 1_000_000_000));
  console.log(`Nightly tier, seed ${process.env.JSONPLANE_TEST_SEED} (JSONPLANE_TEST_SEED repeats it)`);
  const run = await runAll();
  const steps = await runNightlySteps(root, process.env.JSONPLANE_TEST_SEED);
  const failed = steps.filter((step) => !step.passed);
  return finish({
    ...run,
    complaints: [...run.complaints, ...failed.map(({ name }) => `nightly step ${name}`)],
    passed: run.passed + steps.length - failed.length,
    failed: run.failed + failed.length,
  });
}

async function bring(group: PartGroup): Promise<void> {
  await bringParts(process.env, await partsOf(group, process.env));
}

interface WholeRun extends Counts {
  readonly broken: readonly string[];
  readonly complaints: readonly string[];
}

async function runAll(): Promise<WholeRun> {
  await rm(`${root}/test-results`, { recursive: true, force: true });
  const before = await treeState(root);
  const broken = await runStaticChecks(root);
  const checked = await runTests(root, [quick]);
  const verdicts = joinVerdicts([checked, await runTests(root, whole)]);
  await printTimes(root, [quick, ...whole]);
  const after = await treeState(root);
  const record = { before, after, finished: new Date().toISOString(), tests: verdicts.tests };
  const open = await openRows({ ...record, passed: 0, failed: 0 });
  const counts = { passed: verdicts.passed, failed: verdicts.failed + broken.length + open.length };
  await writeFullRun(root, { ...counts, ...record });
  return { ...counts, broken, complaints: [...verdicts.complaints, ...open] };
}

function finish({ broken, complaints, ...counts }: WholeRun): number {
  return summary(broken, complaints, counts);
}

/** Says how many promises of the interface this run proved; returns the unproved ones when docs/spec-rows.yaml enforces them. */
async function openRows(run: FullRun): Promise<readonly string[]> {
  const { rows, enforce } = await readRows(root);
  const verdicts = checkRows(rows, run);
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

async function group(name: Project, args: readonly string[]): Promise<number> {
  await bring(name);
  return runGroup(root, name, args);
}

function isProject(name: string): name is Project {
  return projects.some((project) => project === name);
}

const tiers: Readonly<Record<string, () => Promise<number>>> = { check, test, nightly };
const [name = "", ...args] = process.argv.slice(2);
startScript(name in tiers ? `npm run ${name === "nightly" ? "test:nightly" : name}` : `npm run test:${name}`);
const tier = tiers[name];
if (tier !== undefined) process.exitCode = await tier();
else if (isProject(name)) process.exitCode = await group(name, args);
else throw new WrongArguments(`node tools/test.ts takes ${[...Object.keys(tiers), ...projects].join(", ")}`);
