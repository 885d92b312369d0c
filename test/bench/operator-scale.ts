// `npm run bench:operator`: a real API server with many Projects, one operator and two replicas. Prints how long a cold start
// takes until everything is Ready, what it writes, how much memory it takes, how soon a change is live with all of them loaded,
// and what a restart with nothing changed writes; with `--upheavals` what revoked keys, an emptied Redis and lost leaders cost
// instead, with `--hostile` how soon a neighbour's keys are refused beside a tenant that does its worst. `--projects N` (10,000), `--users N` (5,000 of one project), `--container N` (512, MiB of the operator's container), `--write`
// puts the table into docs/benchmarks.md.

import { availableParallelism } from "node:os";
import { createKubeApi } from "../../operator/kube/connect.ts";
import { readArguments, wholeNumber } from "../../tools/script-arguments.ts";
import { startScript } from "../../tools/start-script.ts";
import { type OwnFleet, startFleet, systemNamespace } from "../support/fleet/fleet.ts";
import type { OperatorProcess } from "../support/fleet/operator-process.ts";
import { createPod } from "../support/fleet/pod.ts";
import { writeFlag } from "./bench-arguments.ts";
import { measureBesideHostile } from "./hostile-tenant.ts";
import { installedOperator } from "./installed-operator.ts";
import {
  counter,
  cpuSeconds,
  cpuSecondsOfAll,
  peakMemory,
  readyObjects,
  untilReady,
  untilServed,
} from "./operator-figures.ts";
import { type Change, measureChanges } from "./operator-latency.ts";
import { beginNoise } from "./operator-noise.ts";
import { declareMany, projectOf } from "./operator-objects.ts";
import { type FigureLine, writeFigures } from "./operator-report.ts";
import { measureEmptied, measureFailover, measureOneUser, measureRevokes, type Upheaval } from "./operator-upheaval.ts";

startScript("npm run bench:operator");
const number = { type: "string" } as const;
const { values: flags } = readArguments({
  upheavals: { type: "boolean", default: false },
  hostile: { type: "boolean", default: false },
  projects: number,
  changes: number,
  users: number,
  container: number,
  ...writeFlag,
});
const upheaved = flags.upheavals;
const projects = wholeNumber("--projects", flags.projects ?? "10000", 1);
const changes = wholeNumber("--changes", flags.changes ?? "200", 1);
const credentials = wholeNumber("--users", flags.users ?? "5000", 1);
const say = (text: string): void => void process.stdout.write(`${text}\n`);

/** For the 99th percentile of revocations beside a namespace that does its worst. */
const hostileBudgetMs = 300;
/** Beside a busy namespace. */
const noisyChanges = 100;

const quiet = ["--log-level", "warn"];

/** Memory limits of the operator's container. In the small one it has little memory to spare, and the garbage collector has more to do. */
const smallContainerMiB = 400;
const containerMiB = wholeNumber("--container", flags.container ?? "512", 1);

// Replicas are there before the operator that is measured: they want a key ring, and a complete configuration of no project.
const fleet = await startFleet({ operators: 1, replicas: 2, operatorArgs: quiet });
const pod = await createPod(fleet.api, systemNamespace);
try {
  if (flags.hostile) {
    for (const { what, measured, budget } of await besideHostile()) say(`${what}: ${measured} (budget ${budget})`);
  } else await measureScale();
} finally {
  await fleet.stop();
  await pod.close();
}

async function besideHostile(): Promise<readonly FigureLine[]> {
  const measured = await measureBesideHostile(fleet, { projects: 10, users: 100, revokes: 40 });
  // The budget is for a machine that does nothing else.
  if (measured.filter((each) => each > 2 * hostileBudgetMs).length > 1) process.exitCode = 1;
  return percentiles(
    "revoke a neighbour's key → refused by both replicas, beside ten Projects of 100 users",
    measured,
    {
      p50: "–",
      p99: `${hostileBudgetMs} ms`,
    },
  );
}

async function measureScale(): Promise<void> {
  const installed = await installedOperator(pod, containerMiB);
  const small = await installedOperator(pod, smallContainerMiB);
  const { api } = await createKubeApi({
    kubeconfig: await fleet.api.kubeconfig(),
    environment: {},
    observe: () => undefined,
    monotonic: () => performance.now(),
  });
  await stopOperators();
  const declared = performance.now();
  const objects = await declareMany(api, projects);
  say(`${objects} objects of ${projects} projects declared in ${seconds(declared)} s`);
  const addOperator = (): Promise<OperatorProcess> => fleet.addOperator(installed);
  const started = await coldStart(addOperator, objects);
  if (upheaved) for (const { what, measured } of started) say(`${what}: ${measured}`);
  const lines = upheaved
    ? await upheavals({ api, fleet, addOperator })
    : [
        ...started,
        ...(await changesLive(fleet, api)),
        ...(await restartInSmallContainer(() => fleet.addOperator(small))),
        ...(await restart(addOperator, objects)),
        ...(await besideNoise(fleet, api)),
      ];
  await api.close();
  for (const line of lines) say(`${line.what}: ${line.measured} (budget ${line.budget})`);
  if (flags.write)
    await writeFigures(upheaved ? "upheavals" : "scale", { projects, objects, cores: availableParallelism(), lines });
}

async function coldStart(addOperator: () => Promise<OperatorProcess>, objects: number): Promise<readonly FigureLine[]> {
  const started = performance.now();
  const before = { all: await cpuSecondsOfAll(), api: await cpuSeconds(fleet.api.pid) };
  const operator = await addOperator();
  const synced = seconds(started);
  const cpu = async () => ({
    operator: await cpuSeconds(operator.pid),
    api: (await cpuSeconds(fleet.api.pid)) - before.api,
    all: (await cpuSecondsOfAll()) - before.all,
  });
  const served = untilServed(fleet.redis.port, projects).then(async () => ({
    after: seconds(started),
    ...(await cpu()),
  }));
  await untilReady(operator, objects, say);
  const whole = seconds(started);
  const [publishing, ending] = [await served, await cpu()];
  const writes = counter(await operator.metrics(), "rest_client_requests_total", /method="(POST|PUT|PATCH)"/);
  await untilIdle(operator);
  const runs = counter(await operator.metrics(), "controller_runtime_reconcile_total", /controller="project"/);
  const memory = `${await peakMemory(operator.pid)} MiB`;
  return [
    { what: "cold start until all caches are complete", measured: `${synced} s`, budget: "–" },
    { what: "cold start until every project is served", measured: `${publishing.after} s`, budget: "–" },
    { what: "CPU per project until then, of all programs", measured: perProject(publishing.all), budget: "26 ms" },
    { what: "of that the API server, the operator", measured: ofBoth(publishing), budget: "–" },
    { what: "cold start until every object is Ready", measured: `${whole} s`, budget: "–" },
    { what: "CPU per project until then, of all programs", measured: perProject(ending.all), budget: "45 ms" },
    { what: "of that the API server, the operator", measured: ofBoth(ending), budget: "–" },
    {
      what: "API writes per project meanwhile, Secrets and Events included",
      measured: (writes / projects).toFixed(2),
      budget: "10.5",
    },
    { what: "reconciles per project, once the queue is empty", measured: (runs / projects).toFixed(2), budget: "–" },
    { what: `operator's memory in a container of ${containerMiB} MiB, peak RSS`, measured: memory, budget: "–" },
  ];
}

function perProject(cpuSecondsUsed: number): string {
  return `${((cpuSecondsUsed * 1000) / projects).toFixed(1)} ms`;
}

function ofBoth({ api, operator }: { readonly api: number; readonly operator: number }): string {
  return `${perProject(api)}, ${perProject(operator)}`;
}

async function changesLive(
  on: OwnFleet,
  api: Parameters<typeof measureChanges>[0]["api"],
): Promise<readonly FigureLine[]> {
  const measured: readonly Change[] = await measureChanges({
    api,
    fleet: on,
    changes,
    projectOf: (index) => projectOf(index % projects),
  });
  return percentiles(
    `apply → live on both replicas, of ${changes} changes`,
    measured.map(({ liveMs }) => liveMs),
    { p50: "150 ms", p99: "500 ms" },
  );
}

/** After everything else: it leaves thousands of objects. */
async function besideNoise(
  on: OwnFleet,
  api: Parameters<typeof measureChanges>[0]["api"],
): Promise<readonly FigureLine[]> {
  const noise = await beginNoise(api);
  const options = {
    api,
    fleet: on,
    changes: noisyChanges,
    projectOf: (index: number) => projectOf((index + 1) % projects),
  };
  const measured = await measureChanges({ ...options, prefix: "g" });
  const applied = noise.applied();
  await noise.stop();
  return percentiles(
    `apply → live beside a namespace that has applied ${applied} objects meanwhile, of ${noisyChanges} changes`,
    measured.map(({ liveMs }) => liveMs),
    { p50: "–", p99: "1,000 ms" },
  );
}

/** In this order: a project more, then everything anew, then other leaders. */
async function upheavals(on: Upheaval): Promise<readonly FigureLine[]> {
  const count = Math.min(changes, projects);
  const spread = Math.floor(projects / count);
  const revoked = Array.from({ length: count }, (_, index) => projectOf(index * spread));
  const revokes = await measureRevokes(on, revoked);
  const bytes = await measureOneUser(on, credentials);
  const emptied = await measureEmptied(on);
  const stopped = await measureFailover(on, "SIGTERM");
  const killed = await measureFailover(on, "SIGKILL");
  return [
    ...percentiles(`revoke a key → refused by both replicas, of ${revokes.length}`, revokes, {
      p50: "–",
      p99: "100 ms",
    }),
    {
      what: `bytes sent to Redis for one changed user of a project with ${credentials.toLocaleString("en")} credentials`,
      measured: String(bytes),
      budget: "–",
    },
    {
      what: "Redis emptied → the configuration of all projects is back",
      measured: `${(emptied / 1000).toFixed(1)} s`,
      budget: "60 s",
    },
    { what: "leader stopped → another one leads", measured: `${(stopped / 1000).toFixed(1)} s`, budget: "3 s" },
    { what: "leader killed → another one leads", measured: `${(killed / 1000).toFixed(1)} s`, budget: "20 s" },
  ];
}

function percentiles(
  what: string,
  measured: readonly number[],
  budgets: { readonly p50: string; readonly p99: string },
): readonly FigureLine[] {
  const sorted = [...measured].sort((a, b) => a - b);
  const at = (part: number): string => `${Math.round(sorted[Math.floor((sorted.length - 1) * part)] ?? Number.NaN)} ms`;
  return [
    { what: `${what}, p50`, measured: at(0.5), budget: budgets.p50 },
    { what: `${what}, p99`, measured: at(0.99), budget: budgets.p99 },
  ];
}

async function restart(addOperator: () => Promise<OperatorProcess>, objects: number): Promise<readonly FigureLine[]> {
  const { operator, used, after } = await restarted(addOperator);
  const text = await operator.metrics();
  const writes = counter(text, "rest_client_requests_total", /method="(POST|PUT|PATCH)"/);
  const ready = readyObjects(text);
  return [
    { what: "restart with nothing changed until all was checked", measured: `${after} s`, budget: "–" },
    { what: "operator's CPU per project until then", measured: perProject(used), budget: "2.5 ms" },
    { what: "API writes meanwhile; the Lease is renewed every 2 s", measured: String(writes), budget: "the Lease's" },
    { what: "objects that are Ready still", measured: `${ready} of ${objects}`, budget: "all" },
  ];
}

/** Once every Project has been looked at: none waits and none is worked on. */
async function restarted(addOperator: () => Promise<OperatorProcess>) {
  await stopOperators();
  const started = performance.now();
  const operator = await addOperator();
  await untilQuiet(operator, projects);
  return { operator, used: await cpuSeconds(operator.pid), after: seconds(started) };
}

async function restartInSmallContainer(addOperator: () => Promise<OperatorProcess>): Promise<readonly FigureLine[]> {
  const { operator, used } = await restarted(addOperator);
  const memory = `${await peakMemory(operator.pid)} MiB`;
  const where = `restart in a container of ${smallContainerMiB} MiB`;
  return [
    { what: `${where}: operator's memory, peak RSS`, measured: memory, budget: "400 MiB" },
    { what: `${where}: operator's CPU per project`, measured: perProject(used), budget: "–" },
  ];
}

async function untilIdle(operator: { metrics(): Promise<string> }): Promise<void> {
  while (counter(await operator.metrics(), "workqueue_depth", /./) > 0)
    await new Promise((resolve) => setTimeout(resolve, 5_000));
}

async function stopOperators(): Promise<void> {
  for (const operator of fleet.operators) await operator.stop();
}

async function untilQuiet(operator: { metrics(): Promise<string> }, wanted: number): Promise<void> {
  for (;;) {
    const text = await operator.metrics();
    if (counter(text, "controller_runtime_reconcile_total", /controller="project"/) >= wanted) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

function seconds(since: number): number {
  return Math.round((performance.now() - since) / 100) / 10;
}
