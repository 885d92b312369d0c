// `npm run soak [-- --minutes M] [-- --projects N] [-- --seed S]`: M minutes (60) of teams that
// declare, change and delete N Projects (500) while operators, Redis and the API server are killed,
// paused and started again. At the end nothing may be left over: all is Ready and served, no
// Secret, finalizer or data is of an object that is gone, nothing is written any more, and the
// operator's memory is what a fresh one needs. Prints each trouble and a summary; exits 1 when
// something is wrong, or too little was tried.

import { setTimeout as sleep } from "node:timers/promises";
import { bringPartsOf } from "../../tools/parts/groups.ts";
import { readArguments, wholeNumber } from "../../tools/script-arguments.ts";
import { startScript } from "../../tools/start-script.ts";
import { createRandom } from "../chaos/random.ts";
import { type MemoryInUse, memoryInUse } from "../support/fleet/memory-in-use.ts";
import { unlessRefused } from "../support/kubernetes/api-server/api-server-call.ts";
import { objectsOf } from "../support/kubernetes/api-server/api-server-objects.ts";
import { setup } from "../support/redis/find-redis.ts";
import {
  type Cluster,
  type Declared,
  deletionFaults,
  faults,
  leftSecrets,
  nameOf,
  notReconciled,
  projectOf,
  readCluster,
} from "./settled.ts";
import { beginTeam, runTeam, type SoakCounts, type TeamOptions } from "./tenants.ts";
import { makeTrouble } from "./troubles.ts";
import { openWorld, type SoakWorld } from "./world.ts";

startScript("npm run soak");
const number = { type: "string" } as const;
const { values } = readArguments({ minutes: number, projects: number, seed: number });
const minutes = wholeNumber("--minutes", values.minutes ?? "60", 1);
const projects = wholeNumber("--projects", values.projects ?? "500", 8);
const seed = wholeNumber("--seed", values.seed ?? "1");

const teams = 4;
const namespacesPerTeam = 3;
/** How long everything may take to settle once the trouble is over. */
const settleMs = 300_000;
/** For so long nothing may be written, once everything has settled. */
const restMs = 20_000;
/**
 * Of the heap of an operator that has just started with the same objects; some of what V8 keeps is
 * not collected at once.
 */
const maxGrowth = 1.5;
/** A soak in which less was changed shows nothing. */
const changesPerMinute = 60;

const since = performance.now();
const say = (text: string): void => {
  const passed = Math.round((performance.now() - since) / 1_000);
  process.stdout.write(
    `${String(Math.floor(passed / 60)).padStart(3)}:${String(passed % 60).padStart(2, "0")}  ${text}\n`,
  );
};

await bringPartsOf("soak");
await setup();
say(`${minutes} minutes, ${projects} Projects, seed ${seed}`);
const world = await openWorld();
try {
  const wrong = await soak(world);
  for (const line of wrong.slice(0, 50)) say(`WRONG: ${line}`);
  say(wrong.length === 0 ? "Nothing is wrong" : `${wrong.length} things are wrong`);
  if (wrong.length > 0) {
    process.exitCode = 1;
    for (const operator of world.operators())
      say(`Log of operator ${operator.pid}, its end:\n${operator.log().slice(-4_000)}`);
  }
} finally {
  await world.stop();
}

async function soak(on: SoakWorld): Promise<readonly string[]> {
  const counts: SoakCounts = { changes: new Map(), failed: 0, revoked: [] };
  const end = Date.now() + minutes * 60_000;
  const teamOptions = Array.from({ length: teams }, (_, team): TeamOptions => {
    const namespaces = Array.from({ length: namespacesPerTeam }, (__, index) => `soak-${team}-${index}`);
    const random = createRandom(seed, `team ${team}`);
    return { world: on, namespaces, projects: projects / teams, random, counts, stopped: () => Date.now() >= end };
  });
  await Promise.all(teamOptions.map(beginTeam));
  say("Everything is declared");
  const third = (minutes * 60_000) / 3;
  await Promise.all([
    ...teamOptions.map(runTeam),
    makeTrouble({
      world: on,
      random: createRandom(seed, "troubles"),
      onTrouble: say,
      stopped: () => Date.now() >= end,
      sparesOperators: () => Date.now() >= end - third,
    }),
  ]);
  const changes = [...counts.changes].map(([name, count]) => `${name} ${count}`).join(", ");
  say(`Changes: ${changes}; ${counts.failed} came to nothing; ${counts.revoked.length} keys were to be deleted`);
  const settled = await settle(on);
  const total = [...counts.changes.values()].reduce((sum, each) => sum + each, 0);
  const tooFew = total < changesPerMinute * minutes ? [`Only ${total} changes were made`] : [];
  if (typeof settled === "string") return [...tooFew, settled];
  say(`Of ${leftSecrets(settled).size} objects that were deleted unheard, Secrets stay for an hour`);
  return [
    ...tooFew,
    ...(await faults(on, settled, counts)),
    ...(await restFaults(on)),
    ...(await memoryFaults(on)),
    ...(await deleteEverything(on, settled)),
  ];
}

async function deleteEverything(on: SoakWorld, present: Cluster): Promise<readonly string[]> {
  await removeAll(on, present.objects);
  const after = await settle(on);
  if (typeof after === "string") return [after];
  // Secrets are deleted once the objects are gone.
  await sleep(restMs);
  return await deletionFaults(on, present, await readCluster(on));
}

/**
 * Answers with what is there once everything is Ready and nothing is being deleted, or says what is
 * not.
 */
async function settle(on: SoakWorld): Promise<Cluster | string> {
  const from = Date.now();
  for (;;) {
    const cluster = await readCluster(on);
    const left = [...(await removeOrphans(on, cluster)), ...notReconciled(cluster)];
    if (left.length === 0) {
      say(`${cluster.objects.length} objects have settled ${Math.round((Date.now() - from) / 1_000)} s after the end`);
      return cluster;
    }
    if (Date.now() - from > settleMs) return `${left.length} objects have not settled: ${left.slice(0, 5).join("; ")}`;
    await sleep(1_000);
  }
}

/**
 * Children whose Project was deleted while the API server answered nothing more: they can't become
 * Ready.
 */
async function removeOrphans(on: SoakWorld, { objects }: Cluster): Promise<readonly string[]> {
  const present = new Set(objects.flatMap((object) => (object.kind === "Project" ? [projectOf(object)] : [])));
  const orphans = objects.filter((object) => object.kind !== "Project" && !present.has(projectOf(object)));
  await removeAll(on, orphans);
  return orphans.map((orphan) => `${nameOf(orphan)} has no Project`);
}

async function removeAll({ fleet: { api } }: SoakWorld, objects: readonly Declared[]): Promise<void> {
  for (const { kind, metadata } of objects)
    await unlessRefused(404, objectsOf(api, metadata.namespace).remove(kind, metadata.name));
}

/**
 * What ends later, such as a namespace that is being deleted, may end in the first of the windows.
 */
async function restFaults(on: SoakWorld): Promise<readonly string[]> {
  let written: readonly string[] = [];
  for (let window = 0; window < 3; window += 1) {
    const before = await readCluster(on);
    await sleep(restMs);
    const after = await readCluster(on);
    written = [...before.versions.symmetricDifference(after.versions)];
    if (written.length === 0) return [];
  }
  return [`At rest these were written or deleted: ${written.slice(0, 5).join("; ")}`];
}

async function memoryFaults(on: SoakWorld): Promise<readonly string[]> {
  const [soaked] = on.operators();
  if (soaked === undefined) return ["No operator runs any more"];
  const used = await memoryInUse(soaked);
  await on.endOperator(soaked, "SIGTERM");
  const fresh = await on.startOperator();
  while ((await fresh.ready().catch(() => 0)) !== 200 || !(await fresh.leads())) await sleep(200);
  await sleep(restMs);
  const needed = await memoryInUse(fresh);
  const mib = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
  const text = ({ heap, external }: MemoryInUse): string => `${mib(heap)}, and ${mib(external)} outside of it`;
  say(`The operator's live heap: ${text(used)}; of a fresh one ${text(needed)}`);
  if (used.heap <= needed.heap * maxGrowth) return [];
  return [`The operator keeps ${mib(used.heap)}, and a fresh one ${mib(needed.heap)}`];
}
