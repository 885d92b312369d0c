// `npm run bench -- expiry`: how long requests take while 10,000 objects expire in one second,
// beside the same requests before. Each kind is sent on a schedule by itself, then all kinds at
// once. Exits 1 beyond twice the goal.

import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { readArguments } from "../../tools/script-arguments.ts";
import { startRedis } from "../support/redis/redis.ts";
import { lengthOf, machine, median, printTable } from "./figures.ts";
import { importRate, storedTexts } from "./import.ts";
import { neighbourRead } from "./neighbours.ts";
import { startServer } from "./processes.ts";
import { createBook, type Plane } from "./stage.ts";

const objects = 10_000;
const goalMs = 50;
const slack = 2;
const everyMs = 20;
const beforeMs = 2_000;
/** Objects that expire are imported in so many times what an import took before, at most. */
const fillTimes = 3;

type Send = () => Promise<void>;

export async function measureExpiry(args: readonly string[]): Promise<void> {
  readArguments({}, [], args);
  const { rounds, seconds } = lengthOf({ rounds: 2, seconds: 3 });
  console.log(`${objects} objects expire, ${rounds} rounds of ${seconds} s (${machine()})\n`);
  const redis = await startRedis();
  const server = await startServer<Plane>("plane-server.ts", [redis.url]);
  try {
    const kinds = await kindsOf(server.says);
    const perSecond = await importRate(server.says, storedTexts(0, objects), "carts");
    // On a busy machine one import takes much longer than another.
    const fillMs = beforeMs + (fillTimes * 1_000 * objects) / perSecond;
    const longest = new Map<string, number[]>();
    const note = (name: string, found: readonly Delay[]) => {
      const most = Math.max(...found.map(({ during, before }) => during - before));
      longest.set(name, [...(longest.get(name) ?? []), most]);
    };
    let expired = 0;
    for (let round = 0; round < rounds; round += 1) {
      const groups: readonly (readonly [string, readonly Send[]])[] = [
        ...kinds.map(([name, send]) => [name, [send]] as const),
        ["all of these at once", kinds.map(([, send]) => send)],
      ];
      for (const [name, sends] of groups) {
        expired += 1;
        const at = Date.now() + fillMs;
        await importRate(server.says, storedTexts(expired, objects, { until: new Date(at).toISOString() }), "carts");
        if (Date.now() > at - beforeMs) throw new Error("The import took too long: measure again");
        await sleep(at - beforeMs - Date.now());
        note(name, await Promise.all(sends.map((send) => delayOf(send, at, seconds))));
      }
    }
    report(longest);
  } finally {
    await server.stop();
    await redis.stop();
  }
}

async function kindsOf(plane: Plane): Promise<readonly (readonly [string, Send])[]> {
  const url = `${plane.base}/api/carts`;
  const { id } = await createBook(url, plane.admin, 0);
  const agent = new Agent({ keepAlive: true });
  const ask = (query: string): Send => {
    const options = { agent, headers: { authorization: `apikey ${plane.admin}` } };
    return () =>
      new Promise((resolve, reject) => {
        const sent = request(`${url}${query}`, options, (response) => {
          if (response.statusCode !== 200) response.on("data", (d) => reject(new Error(`${query} got ${d}`)));
          response.resume().once("end", resolve);
        });
        sent.once("error", reject).end();
      });
  };
  return [
    ["a read", ask(`/${id}`)],
    ["a create", async () => void (await createBook(url, plane.admin, 1))],
    ["a list of the first", ask("?_limit=20")],
    ["a list by a field, from its end", ask("?_sort=-title&_limit=20")],
    ["a filter that counts half of all", ask("?price:lt=2500&_sort=price&_limit=20")],
    ["a read of another project", await neighbourRead(plane)],
  ];
}

/** Milliseconds. */
interface Delay {
  /** The usual one until the objects expire. */
  readonly before: number;
  /** The longest since. */
  readonly during: number;
}

/** Requests start on a schedule, and are timed from the moment at which they are due. */
async function delayOf(send: Send, at: number, seconds: number): Promise<Delay> {
  const start = Date.now();
  const length = Math.floor((at - start + seconds * 1_000) / everyMs);
  const times = Array.from({ length }, async (_, index) => {
    const due = start + index * everyMs;
    await sleep(Math.max(1, due - Date.now()));
    await send();
    return { due, took: Math.max(0, Date.now() - due) };
  });
  const [before, during] = [[] as number[], [] as number[]];
  for (const { due, took } of await Promise.all(times)) (due < at ? before : during).push(took);
  return { before: median(before), during: Math.max(...during) };
}

function report(longest: ReadonlyMap<string, readonly number[]>): void {
  const rows = [...longest].map(([name, all]) => [name, `${median(all)} ms (${Math.max(...all)})`, `≤ ${goalMs} ms`]);
  printTable(["longest delay beyond the usual", "median of rounds (longest)", "goal"], rows);
  process.exitCode = [...longest.values()].some((all) => median(all) > goalMs * slack) ? 1 : 0;
}
