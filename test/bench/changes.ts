// `npm run bench -- changes`: how soon subscribers on one replica are sent writes on another one,
// what an event takes of it, what that does to another project's reads there, what idle streams
// take, and what a log costs a write. Exits 1 beyond twice a goal.

import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { readArguments } from "../../tools/script-arguments.ts";
import { startRedis } from "../support/redis/redis.ts";
import { cpuOfProcess } from "./cpu.ts";
import { lengthOf, machine, median, printTable, quantile, ratiosOf, spread } from "./figures.ts";
import { sendLoad } from "./load.ts";
import { neighbourRead, p99Of } from "./neighbours.ts";
import { type BenchServer, startServer } from "./processes.ts";
import { createBook, type Plane } from "./stage.ts";
import type { SentWrite } from "./write-on-schedule.ts";

const subscribers = 1_000;
const writesPerSecond = 200;
const idleStreams = 2_000;
const writeConnections = 16;
/** Two writes of one object at once would repeat one of them. */
const writtenObjects = 500;
const goals = { p99Ms: 50, neighbourRatio: 1.5, idleMiB: 100, writeRatio: 0.9 };
const slack = 2;

interface Delivery {
  /** Milliseconds from the response to a write until its event came. */
  readonly delays: readonly number[];
  /** From the moment the write was sent. */
  readonly sinceSent: readonly number[];
  /** Part of those due. */
  readonly received: number;
  /** Microseconds of CPU time of the replica for each. */
  readonly cpu: number;
  /** Of the p99 of a neighbour's reads, to those from a replica without subscribers. */
  readonly neighbour: readonly number[];
}

/** What follow-changes.ts answers. */
interface Came {
  readonly timed: readonly (readonly [at: number, came: number])[];
  readonly events: number;
}

interface Figures extends Delivery {
  readonly idleMiB: number;
  readonly ratios: readonly number[];
}

export async function measureChanges(args: readonly string[]): Promise<void> {
  readArguments({}, [], args);
  const { rounds, seconds } = lengthOf({ rounds: 5, seconds: 3 });
  console.log(`${rounds} rounds of ${seconds} s (${machine()})\n`);
  const redis = await startRedis();
  const writer = await startServer<Plane>("plane-server.ts", [redis.url]);
  const another = () => startServer<Plane>("plane-server.ts", [redis.url, writer.says.keyring ?? ""]);
  const [reader, quiet] = [await another(), await another()];
  try {
    const idleMiB = await idleMemory(reader);
    const delivery = await deliver({ writer: writer.says, reader, quiet: quiet.says }, { rounds, seconds });
    const ratios = await writeRatios(writer.says, { rounds, seconds });
    report({ ...delivery, idleMiB, ratios });
  } finally {
    await Promise.all([writer.stop(), reader.stop(), quiet.stop()]);
    await redis.stop();
  }
}

function follow(plane: Plane, streams: number): Promise<BenchServer<{ readonly open: number }>> {
  const url = `${plane.base}/api/watched`;
  return startServer("follow-changes.ts", [url, `apikey ${plane.admin}`, String(streams)]);
}

async function idleMemory({ says, pid }: BenchServer<Plane>): Promise<number> {
  await (await follow(says, 1)).stop();
  const before = residentMiB(pid);
  const followers = await follow(says, idleStreams);
  await sleep(3_000);
  const after = residentMiB(pid);
  await followers.stop();
  return after - before;
}

function residentMiB(pid: number): number {
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) / 1024;
}

interface DeliveringReplicas {
  readonly writer: Plane;
  readonly reader: BenchServer<Plane>;
  /** Without subscribers. */
  readonly quiet: Plane;
}

async function deliver(
  { writer, reader, quiet }: DeliveringReplicas,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<Delivery> {
  const url = `${writer.base}/api/watched`;
  await createBook(url, writer.admin, 0);
  const [readBusy, readQuiet] = [await neighbourRead(reader.says), await neighbourRead(quiet)];
  const followers = await follow(reader.says, subscribers);
  const args = [url, `apikey ${writer.admin}`, String(writesPerSecond), String(seconds)];
  const writing = await startServer("write-on-schedule.ts", args);
  const delays: number[] = [];
  const sinceSent: number[] = [];
  const neighbour: number[] = [];
  const counts = { due: 0, events: 0, cpu: 0 };
  /** Writes, and answers with these, what came of them, and the p99 of these reads meanwhile. */
  const writeWhile = async (read: () => Promise<void>) => {
    const [writes, p99] = await Promise.all([writing.ask() as Promise<readonly SentWrite[]>, p99Of(read, seconds)]);
    await sleep(1_000);
    return { writes, p99, came: (await followers.ask()) as Came };
  };
  try {
    for (let round = 0; round < rounds; round += 1) {
      // In turn, and this first: it warms the programs up.
      const other = await writeWhile(readQuiet);
      const before = await cpuOfProcess(reader.pid);
      const { writes, p99, came } = await writeWhile(readBusy);
      counts.cpu += (await cpuOfProcess(reader.pid)) - before;
      neighbour.push(p99 / other.p99);
      counts.due += writes.length * subscribers;
      counts.events += came.events;
      const byNumber = new Map(writes.map((write) => [write.at, write]));
      for (const [at, time] of came.timed) {
        const { sent, acknowledged } = byNumber.get(at) ?? { sent: Number.NaN, acknowledged: Number.NaN };
        delays.push(Math.max(0, time - acknowledged));
        sinceSent.push(time - sent);
      }
    }
    const received = counts.events / counts.due;
    return { delays, sinceSent, received, cpu: counts.cpu / counts.events, neighbour };
  } finally {
    await Promise.all([followers.stop(), writing.stop()]);
  }
}

async function writeRatios(
  plane: Plane,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<readonly number[]> {
  const rateOf = async (resource: string): Promise<() => Promise<number>> => {
    const collection = `${plane.base}/api/${resource}`;
    const paths: string[] = [];
    for (let index = 0; index < writtenObjects; index += 1) {
      const { id } = await createBook(collection, plane.admin, index);
      paths.push(new URL(`${collection}/${id}`).pathname);
    }
    const headers = { authorization: `apikey ${plane.admin}`, "content-type": "application/json" };
    const request = { url: collection, method: "PUT", headers, body: '{"stock":@}', paths };
    return async () => (await sendLoad(request, { connections: writeConnections, seconds })).perSecond;
  };
  const [unwatchedRate, watchedRate] = [await rateOf("unwatched"), await rateOf("watched")];
  const watched: number[] = [];
  const unwatched: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    unwatched.push(await unwatchedRate());
    watched.push(await watchedRate());
  }
  return ratiosOf(watched, unwatched);
}

function report({ delays, sinceSent, received, cpu, neighbour, idleMiB, ratios }: Figures): void {
  const p99 = quantile(delays, 0.99);
  printTable(
    ["what", "measured", "goal"],
    [
      [
        `response to event on another replica, ${subscribers} subscribers, ${writesPerSecond} writes/s, p50`,
        `${median(delays).toFixed(0)} ms`,
        "",
      ],
      ["the same, p99", `${p99.toFixed(0)} ms`, `≤ ${goals.p99Ms} ms`],
      ["from the moment the write was sent, p99", `${quantile(sinceSent, 0.99).toFixed(0)} ms`, ""],
      ["events received of those due", received.toFixed(4), "1"],
      ["CPU time of the replica for each", `${cpu.toFixed(1)} µs`, ""],
      [
        "p99 of a neighbour's reads meanwhile, to that on a replica without subscribers",
        spread(neighbour),
        `≤ ${goals.neighbourRatio}`,
      ],
      [`${idleStreams} idle streams`, `${idleMiB.toFixed(0)} MiB`, `≤ ${goals.idleMiB} MiB`],
      ["PUT of a watched resource, of an unwatched one's rate", spread(ratios), `≥ ${goals.writeRatio}`],
    ],
  );
  const isFar =
    p99 > goals.p99Ms * slack ||
    median(neighbour) > goals.neighbourRatio * slack ||
    idleMiB > goals.idleMiB * slack ||
    median(ratios) < goals.writeRatio / slack ||
    received !== 1;
  process.exitCode = isFar ? 1 : 0;
}
