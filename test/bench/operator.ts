// `npm run bench -- operator`: a real API server with many Projects, one operator as the chart runs
// it, and two replicas. Prints what a cold start takes, how soon a change or a revocation is live,
// and what a restart, an emptied Redis and a lost leader cost. `--projects N` (10,000), `--changes
// N` (200). `--hostile` only measures revocations next to a namespace that does its worst, and
// exits 1 when they are far beyond their budget.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import type { ProjectRef } from "../../core/config/types.ts";
import type { KubeApi } from "../../operator/kube/api.ts";
import { createKubeApi } from "../../operator/kube/connect.ts";
import { allocatorEnvironment } from "../../tools/image/jsonplane-image.ts";
import { runOrThrow } from "../../tools/parts/run-command.ts";
import { readArguments, wholeNumber } from "../../tools/script-arguments.ts";
import { type OwnFleet, startFleet, systemNamespace } from "../support/fleet/fleet.ts";
import type { OperatorProcess } from "../support/fleet/operator-process.ts";
import { createPod } from "../support/fleet/pod.ts";
import { cpuOfProcess } from "./cpu.ts";
import { machine, printTable, quantile } from "./figures.ts";
import { measureBesideHostile } from "./hostile-tenant.ts";
import { changeSchema, emptyRedis, endLeader, revokeKey } from "./operator-changes.ts";
import { apiWrites, counter, cpuOfChildren, peakMemory, readyObjects, reconciles, until } from "./operator-figures.ts";
import { declareMany, projectOf } from "./operator-objects.ts";

/** The p99 of revocations next to a hostile namespace. */
const hostileBudgetMs = 300;
/** `operator.resources.limits.memory` of the chart. */
const containerMiB = 512;
const root = new URL("../../", import.meta.url);

/** What, measured, budget. */
type Row = readonly [string, string, string];

export async function measureOperator(args: readonly string[]): Promise<void> {
  const number = { type: "string" } as const;
  const options = { hostile: { type: "boolean", default: false }, projects: number, changes: number } as const;
  const { values } = readArguments(options, [], args);
  const projects = wholeNumber("--projects", values.projects ?? "10000", 1);
  const changes = Math.min(projects, wholeNumber("--changes", values.changes ?? "200", 1));
  await runOrThrow(process.execPath, ["tools/build.ts"], { cwd: fileURLToPath(root) });
  // The replicas start before the operator that is measured: they need a key ring and a
  // configuration.
  const fleet = await startFleet({ operators: 1, replicas: 2, operatorArgs: ["--log-level", "warn"] });
  try {
    const rows = values.hostile ? await besideHostile(fleet) : await atScale(fleet, projects, changes);
    console.log(`${projects} Projects (${machine()})\n`);
    printTable(["what", "measured", "budget"], rows);
  } finally {
    await fleet.stop();
  }
}

async function besideHostile(fleet: OwnFleet): Promise<readonly Row[]> {
  const measured = await measureBesideHostile(fleet, { projects: 10, users: 100, revokes: 40 });
  // The budget is for a machine that does nothing else.
  if (measured.filter((each) => each > 2 * hostileBudgetMs).length > 1) process.exitCode = 1;
  return percentiles("revoke a key → refused by both replicas, beside a hostile namespace", measured, hostileBudgetMs);
}

async function atScale(fleet: OwnFleet, projects: number, changes: number): Promise<readonly Row[]> {
  const pod = await createPod(fleet.api, systemNamespace);
  const { api } = await createKubeApi({
    kubeconfig: await fleet.api.kubeconfig(),
    environment: {},
    observe: () => undefined,
    monotonic: () => performance.now(),
  });
  const asInstalled = { ...(await programOfChart()), env: allocatorEnvironment, pod };
  const addOperator = (): Promise<OperatorProcess> => fleet.addOperator(asInstalled);
  try {
    await stopOperators(fleet);
    const objects = await declareMany(api, projects);
    return [
      ...(await coldStart(addOperator, { projects, objects })),
      ...(await restart(fleet, addOperator, { projects, objects })),
      ...(await changesOf(api, fleet, { projects, changes })),
      ["Redis emptied → the configuration of all projects is back", seconds(await emptyRedis(fleet)), "60 s"],
      ["leader stopped → another one leads", seconds(await endLeader(fleet, addOperator, "SIGTERM")), "3 s"],
      ["leader killed → another one leads", seconds(await endLeader(fleet, addOperator, "SIGKILL")), "20 s"],
    ];
  } finally {
    await api.close();
    await pod.close();
  }
}

/** The built program, with the heap that the chart gives it. */
async function programOfChart() {
  const values = parse(await readFile(new URL("charts/jsonplane/values.yaml", root), "utf8"));
  const { heapPercent } = (values as { operator: { readonly heapPercent: number } }).operator;
  const heap = Math.floor((containerMiB * heapPercent) / 100);
  const nodeFlags = [`--max-old-space-size=${heap}`, "--max-semi-space-size=8"];
  return { program: fileURLToPath(new URL("dist/cli/main.js", root)), nodeFlags };
}

interface Size {
  readonly projects: number;
  readonly objects: number;
}

async function coldStart(
  addOperator: () => Promise<OperatorProcess>,
  { projects, objects }: Size,
): Promise<readonly Row[]> {
  const started = performance.now();
  const before = await cpuOfChildren();
  const operator = await addOperator();
  const all = async () => perProject((await cpuOfChildren()) - before, projects);
  await until(async () => (await reconciles(operator)) >= projects, 1_000);
  const [served, servedCpu] = [seconds(performance.now() - started), await all()];
  // Counting walks over all objects.
  await until(async () => (await readyObjects(operator)) >= objects, 2_000);
  const [ready, readyCpu] = [seconds(performance.now() - started), await all()];
  const writes = await apiWrites(operator);
  await until(async () => (await counter(operator, "workqueue_depth")) === 0, 5_000);
  return [
    ["cold start until every project is reconciled", served, "–"],
    ["CPU per project until then, of all programs", servedCpu, "26 ms"],
    ["cold start until every object is Ready", ready, "–"],
    ["CPU per project until then, of all programs", readyCpu, "45 ms"],
    ["API writes per project, Secrets and Events included", (writes / projects).toFixed(2), "10.5"],
    ["reconciles per project", ((await reconciles(operator)) / projects).toFixed(2), "–"],
    [
      `operator's peak RSS, ${containerMiB} MiB allowed`,
      `${await peakMemory(operator.pid)} MiB`,
      `${containerMiB} MiB`,
    ],
  ];
}

async function changesOf(
  api: KubeApi,
  fleet: OwnFleet,
  { projects, changes }: { readonly projects: number; readonly changes: number },
): Promise<readonly Row[]> {
  const measure = async (change: (ref: ProjectRef) => Promise<number>): Promise<readonly number[]> => {
    const measured: number[] = [];
    // Far apart, so that no project is in a replica's memory because of the one before.
    const step = Math.floor(projects / changes);
    for (let index = 0; index < changes; index += 1) measured.push(await change(projectOf(index * step)));
    return measured;
  };
  const schemas = await measure((ref) => changeSchema(api, fleet, ref));
  const keys = await measure((ref) => revokeKey(api, fleet, ref));
  return [
    ...percentiles("apply a schema → live on both replicas", schemas, 500),
    ...percentiles("revoke a key → refused by both replicas", keys, 100),
  ];
}

async function restart(
  fleet: OwnFleet,
  addOperator: () => Promise<OperatorProcess>,
  { projects, objects }: Size,
): Promise<readonly Row[]> {
  await stopOperators(fleet);
  const started = performance.now();
  const operator = await addOperator();
  await until(async () => (await reconciles(operator)) >= projects, 250);
  const after = seconds(performance.now() - started);
  return [
    ["restart with nothing changed until all was checked", after, "–"],
    ["operator's CPU per project until then", perProject(await cpuOfProcess(operator.pid), projects), "2.5 ms"],
    ["API writes meanwhile (the Lease, every 2 s)", String(await apiWrites(operator)), "the Lease's"],
    ["objects that are Ready still", `${await readyObjects(operator)} of ${objects}`, "all"],
  ];
}

async function stopOperators(fleet: OwnFleet): Promise<void> {
  for (const operator of fleet.operators) await operator.stop();
}

function percentiles(what: string, measured: readonly number[], p99Budget: number): readonly Row[] {
  return [
    [`${what}, p50 of ${measured.length}`, `${Math.round(quantile(measured, 0.5))} ms`, "–"],
    [`${what}, p99`, `${Math.round(quantile(measured, 0.99))} ms`, `${p99Budget} ms`],
  ];
}

function perProject(microseconds: number, projects: number): string {
  return `${(microseconds / 1_000 / projects).toFixed(1)} ms`;
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}
