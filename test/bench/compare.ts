// `npm run bench:peers`: jsonplane against PocketBase, Kinto, json-server, and Webdis as a limit, all started here, asked for the same by
// turns in one run, at 64 connections and at one. With --write it puts the tables into docs/benchmarks.md. All share the cores.

import { availableParallelism } from "node:os";
import { startScript } from "../../tools/start-script.ts";
import { startRedis } from "../support/redis/redis.ts";
import { readLength, readWrite } from "./bench-arguments.ts";
import { findLoader, type Load, type Loader } from "./load.ts";
import { median } from "./median.ts";
import { type OperationName, operations } from "./operations.ts";
import { writeSection } from "./page.ts";
import { startKinto } from "./peers/kinto.ts";
import type { Peer } from "./peers/peer.ts";
import { startPocketBase } from "./peers/pocketbase.ts";
import { startWebdis } from "./peers/webdis.ts";
import { openStage, type Stage } from "./stage.ts";

startScript("npm run bench:peers");
const writes = readWrite();
const { rounds, seconds } = readLength({ rounds: 3, seconds: 2 });
const objects = 1_000;
/** The least ratio of our throughput to that of PocketBase. */
const budgets: Readonly<Partial<Record<OperationName, number>>> = {
  "get, API key": 4,
  "list of 10": 4,
  "list of 10, sorted": 4,
  "create, three indexes": 4,
  PUT: 3.8,
};

interface Compared {
  readonly name: OperationName;
  /** By subject; those without the operation are absent. */
  readonly loads: ReadonlyMap<string, readonly Load[]>;
}

const stage = await openStage(objects);
const kintoRedis = await startRedis();
const peers: Peer[] = [];
try {
  peers.push(await startPocketBase(objects), await startWebdis(stage.redis.url), await startKinto(kintoRedis.url));
  const loader = await findLoader();
  const subjects = subjectsOf(stage);
  const tables: string[] = [];
  for (const connections of [64, 1]) {
    const compared: Compared[] = [];
    for (const { name } of operations(stage.at)) compared.push(await compare(loader.load, subjects, name, connections));
    tables.push(...tableOf(subjects, compared, connections));
  }
  const text = [...headLines(loader.name), ...tables].join("\n");
  process.stdout.write(text);
  if (writes) await writeSection("# Against peers", text);
} finally {
  await Promise.all(peers.map((peer) => peer.stop()));
  await kintoRedis.stop();
  await stage.close();
}

/** jsonplane first. */
function subjectsOf({ at }: Stage): readonly Pick<Peer, "name" | "requests">[] {
  const of = (key: "plane" | "jsonServer"): Peer["requests"] =>
    Object.fromEntries(operations(at).flatMap((each) => (each[key] ? [[each.name, each[key]]] : [])));
  const [pocketBase, ...others] = peers;
  if (pocketBase === undefined) throw new Error("PocketBase was not started");
  return [
    { name: "jsonplane", requests: of("plane") },
    pocketBase,
    { name: "json-server", requests: of("jsonServer") },
    ...others,
  ];
}

async function compare(
  load: Loader,
  subjects: readonly Pick<Peer, "name" | "requests">[],
  name: OperationName,
  connections: number,
): Promise<Compared> {
  const loads = new Map<string, Load[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const subject of subjects) {
      const request = subject.requests[name];
      if (request === undefined) continue;
      const measured = loads.get(subject.name) ?? [];
      measured.push(await load(request, { connections, seconds }));
      loads.set(subject.name, measured);
    }
  }
  process.stdout.write(`${name}, ${connections}: ${[...loads].map(([who, of]) => `${who} ${rate(of)}`).join(", ")}\n`);
  return { name, loads };
}

function headLines(loader: string): readonly string[] {
  return [
    "# Against peers",
    "",
    "Made by `npm run bench:peers -- --write`, which starts all programs: PocketBase over SQLite, with a superuser's token (no rules to",
    "check); json-server over a file in memory; Webdis, a C program between HTTP and Redis without keys or schemas, as an upper limit; Kinto over Redis",
    `(its lists fail over Redis in this version). ${objects} objects of some 600 bytes with three indexes, ${rounds} rounds of ${seconds} s by`,
    `${loader}, alternating; servers, Redis and load generator share ${availableParallelism()} cores. Requests a second, p99 in milliseconds, medians; below them the ratio`,
    "jsonplane : peer, with its lowest and highest round.",
    "",
  ];
}

function tableOf(
  subjects: readonly Pick<Peer, "name" | "requests">[],
  compared: readonly Compared[],
  connections: number,
): readonly string[] {
  const names = subjects.map(({ name }) => name);
  const comparable = compared.filter(({ loads }) => loads.size > 1);
  const line = ({ name, loads }: Compared): string => {
    const ours = loads.get("jsonplane") ?? [];
    const cells = names.map((who) => {
      const theirs = loads.get(who);
      if (theirs === undefined) return "–";
      const speed = `${rate(theirs)}, p99 ${p99(theirs)}`;
      return who === "jsonplane" ? speed : `${speed}<br>**${ratio(ours, theirs)}**`;
    });
    const budget = connections === 64 ? budgets[name] : undefined;
    return `| ${[name, ...cells, budget === undefined ? "–" : `≥ ${budget}`].join(" | ")} |`;
  };
  return [
    `## ${connections === 1 ? "One connection" : `${connections} connections`}`,
    "",
    `| operation | ${names.join(" | ")} | budget against PocketBase |`,
    `|---|${names.map(() => "---:|").join("")}---:|`,
    ...comparable.map(line),
    "",
    ...missed(comparable, connections),
  ];
}

/** Names what is below its budget: a miss stands here until it is closed. */
function missed(compared: readonly Compared[], connections: number): readonly string[] {
  const below = compared.filter(({ name, loads }) => {
    const ratios = ratiosOf(loads.get("jsonplane") ?? [], loads.get("PocketBase") ?? []);
    return connections === 64 && median(ratios) < (budgets[name] ?? 0);
  });
  if (below.length === 0) return [];
  return [`**Below the budget:** ${below.map(({ name }) => name).join("; ")}.`, ""];
}

function rate(loads: readonly Load[]): number {
  return Math.round(median(loads.map(({ perSecond }) => perSecond)));
}

function p99(loads: readonly Load[]): string {
  return median(loads.map((load) => load.p99)).toFixed(1);
}

/** Round by round; a slow peer may answer nothing in a short one. */
function ratiosOf(ours: readonly Load[], theirs: readonly Load[]): readonly number[] {
  return ours
    .map((load, round) => load.perSecond / (theirs[round]?.perSecond ?? Number.NaN))
    .filter((each) => Number.isFinite(each));
}

function ratio(ours: readonly Load[], theirs: readonly Load[]): string {
  const ratios = ratiosOf(ours, theirs);
  const bounds = [Math.min(...ratios), Math.max(...ratios)].map((value) => value.toFixed(2)).join("–");
  return `${median(ratios).toFixed(2)} (${bounds})`;
}
