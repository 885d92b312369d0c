// `npm run check`, `npm test` and parts of them: `node tools/test.ts check [NAME] | test [nightly |
// PROJECT …]`.
//
// - `check`: static checks, unit and meta tests, the gate before a push
// - `check NAME`: one static check, style, types or layers
// - `test`: the parts, then everything that a commit must pass, and its record, which
//   `npm run spec` reads
// - `test nightly`: the same with many cases instead of few, then what takes too long for a commit
// - `test valkey`: those tests of `store` and `http` that a commit must pass on Valkey, too
// - `test kubernetes [MINOR …]`: some tests of `operator` and `chart` on older versions of
//   Kubernetes, all that can be built by default; the nightly tier runs them on the oldest
// - `test PROJECT`: the parts of one kind of test, then vitest, which gets the further arguments
//
// The last line of check, test and nightly is `N passed, N failed`. A failed check, a skipped test
// and a test file that didn't run count as failed, and make the exit code 1.

import { rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { bringKubernetes, bringPartsOf, partVersions } from "./parts/groups.ts";
import { kubernetesMinors } from "./parts/kubernetes.ts";
import { WrongArguments } from "./script-arguments.ts";
import { checkRows, unprovedRows } from "./spec/check-rows.ts";
import { readRows } from "./spec/read-rows.ts";
import { startScript } from "./start-script.ts";
import { type FullRun, writeFullRun } from "./test-run/full-run.ts";
import { runNightlySteps } from "./test-run/nightly-steps.ts";
import { runOnKubernetes } from "./test-run/on-kubernetes.ts";
import { type Lane, printTimes, projects, runGroup, runTests } from "./test-run/run-tests.ts";
import { runStaticChecks, staticChecks } from "./test-run/static-checks.ts";
import { treeState } from "./test-run/tree-state.ts";
import { joinVerdicts, type Verdicts } from "./test-run/vitest-report.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const cores = availableParallelism();
/** More files at a time than cores: some wait for leases of a second. */
const quick: Lane = { name: "check", projects: ["unit", "meta"], workers: Math.max(4, cores) };
/**
 * The contract of the store, and requests that depend most on what a server does, once more. The
 * parts step has named the program.
 */
const onValkey: Lane = {
  name: "valkey",
  projects: ["store", "http"],
  workers: Math.max(1, Math.floor(cores / 4)),
  files: [
    ...["redis-acl", "redis-cluster-store", "redis-failover", "redis-store"].map(
      (file) => `test/store/${file}.test.ts`,
    ),
    ...["document-paths", "documents-insert", "documents-put", "entity-tags", "exact-values"].map(
      (file) => `test/http/${file}.test.ts`,
    ),
    ...["lists-sorting", "objects-update", "refused-writes", "sessions-end"].map((file) => `test/http/${file}.test.ts`),
  ],
  env: () => ({ JSONPLANE_REDIS_SERVER: process.env.JSONPLANE_VALKEY_SERVER }),
};

/**
 * Side by side. Files of the heavy lane start several processes each and mostly wait for them;
 * those of the light lane wait for a browser or for programs that start. What computes is in each
 * lane's end, and fills the gaps. Six files at a time keep two cores busy; with eight, a run ended
 * a minute sooner.
 */
const whole: readonly Lane[] = [
  { name: "light", projects: ["process", "security"], workers: Math.max(2, Math.floor(cores / 2)) },
  {
    name: "heavy",
    projects: ["e2e", "image", "operator", "observability", "chart", "store", "http"],
    workers: Math.max(3, Math.floor(cores / 2)),
  },
  onValkey,
];

async function check(only: string | undefined): Promise<number> {
  const known = Object.keys(staticChecks);
  if (only !== undefined && !known.includes(only)) throw new WrongArguments(`${only}: there are ${known.join(", ")}`);
  const broken = await runStaticChecks(root, only === undefined ? known : [only]);
  if (only !== undefined) return broken.length;
  const verdicts = await runTests(root, [quick]);
  return summary(broken, verdicts.complaints, { passed: verdicts.passed, failed: verdicts.failed + broken.length });
}

async function test([name, ...args]: readonly string[]): Promise<number> {
  if (name === undefined) {
    await bringPartsOf("test");
    return finish(await runAll());
  }
  if (name === "nightly") return await nightly();
  if (name === "valkey") {
    await bringPartsOf("valkey");
    const { complaints, ...counts } = await runTests(root, [onValkey]);
    return summary([], complaints, counts);
  }
  if (name === "kubernetes") return await testOnKubernetes(args);
  const project = projects.find((each) => each === name);
  if (project === undefined)
    throw new WrongArguments(`${name}: there are nightly, valkey, kubernetes, ${projects.join(", ")}`);
  await bringPartsOf(project);
  return await runGroup(root, project, args);
}

async function testOnKubernetes(asked: readonly string[]): Promise<number> {
  const unknown = asked.find((minor) => !kubernetesMinors.includes(minor));
  if (unknown !== undefined) throw new WrongArguments(`${unknown}: there are ${kubernetesMinors.join(", ")}`);
  const verdicts: Verdicts[] = [];
  const minors = asked.length > 0 ? asked : kubernetesMinors.slice(0, -1);
  for (const minor of minors) verdicts.push(await runOnKubernetes(root, minor));
  const { complaints, ...counts } = joinVerdicts(verdicts);
  return summary([], complaints, counts);
}

async function nightly(): Promise<number> {
  await bringPartsOf("nightly");
  const [oldest = ""] = kubernetesMinors;
  await bringKubernetes(oldest);
  process.env.JSONPLANE_TEST_TIER = "nightly";
  process.env.JSONPLANE_TEST_SEED ??= String(1 + Math.floor(Math.random() * 1_000_000_000));
  console.log(`Nightly tier, seed ${process.env.JSONPLANE_TEST_SEED} (JSONPLANE_TEST_SEED repeats it)`);
  const run = await runAll();
  const onOldest = await runOnKubernetes(root, oldest);
  const steps = await runNightlySteps(root, process.env.JSONPLANE_TEST_SEED);
  const failed = steps.filter((step) => !step.passed);
  return finish({
    ...run,
    complaints: [...run.complaints, ...onOldest.complaints, ...failed.map((step) => `nightly step ${step.name}`)],
    passed: run.passed + onOldest.passed + steps.length - failed.length,
    failed: run.failed + onOldest.failed + failed.length,
  });
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
  await writeFullRun(root, { ...counts, ...record, parts: await partVersions("test") });
  return { ...counts, broken, complaints: [...verdicts.complaints, ...open] };
}

function finish({ broken, complaints, ...counts }: WholeRun): number {
  return summary(broken, complaints, counts);
}

/**
 * Prints how many promises of the interface this run proved; returns the unproved ones when
 * docs/spec-rows.yaml enforces them.
 */
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
  for (const name of broken) console.log(`FAILED ${name} (npm run check -- ${name} shows it alone)`);
  for (const complaint of complaints) console.log(`FAILED ${complaint}`);
  console.log(`${counts.passed} passed, ${counts.failed} failed`);
  return counts.failed === 0 ? 0 : 1;
}

const [command, ...args] = process.argv.slice(2);
startScript(command === "check" ? "npm run check" : "npm test");
process.exitCode = command === "check" ? await check(args[0]) : await test(args);
