// Objects and key/value documents of 1 KiB to 1 MiB: how many a second are read and replaced, and how many megabytes that is.

import { setTimeout as sleep } from "node:timers/promises";
import type { TestRedis } from "../support/redis/redis.ts";
import { type Costly, costOf } from "./cpu.ts";
import type { LoadRequest } from "./load.ts";
import { median } from "./median.ts";
import type { MeasureOptions } from "./more-replicas.ts";
import { type BenchServer, startServer } from "./processes.ts";
import type { Plane } from "./stage.ts";
import { catalogueText } from "./subjects.ts";

const kibibytes = [1, 4, 16, 64, 256, 1024];
/** As many objects of a size are asked for by turns. */
const objects = 16;
/** From here on there are few answers in a second: runs take longer, over fewer connections. */
const large = 256 * 1024;
const connections = { usual: 16, ofLarge: 4 };

interface SizedRow {
  readonly bytes: number;
  /** By operation, medians of requests a second and of CPU time. */
  readonly figures: Readonly<Record<string, Figures>>;
}

interface Figures {
  readonly perSecond: number;
  /** Microseconds a request. */
  readonly server: number;
  readonly redis: number;
}

export async function measureDocuments(redis: TestRedis, measure: MeasureOptions): Promise<readonly SizedRow[]> {
  const plane = await startServer<Plane>("plane-server.ts", [redis.url]);
  try {
    const rows: SizedRow[] = [];
    for (const size of kibibytes) rows.push(await rowOf({ plane, redis }, size * 1024, measure));
    return rows;
  } finally {
    await plane.stop();
  }
}

interface Servers {
  readonly plane: BenchServer<Plane>;
  readonly redis: TestRedis;
}

async function rowOf({ plane, redis }: Servers, bytes: number, measure: MeasureOptions): Promise<SizedRow> {
  const requests = await requestsOf(plane.says, catalogueText(bytes));
  const figures: Record<string, Figures> = {};
  const { seconds } = measure.options;
  const options =
    bytes < large
      ? { connections: connections.usual, seconds }
      : { connections: connections.ofLarge, seconds: 2 * seconds };
  for (const [name, request] of Object.entries(requests)) {
    const found: Costly[] = [];
    for (let round = 0; round < measure.rounds; round += 1) {
      found.push(await costOf({ server: plane, nodes: [redis] }, () => measure.loader(request, options)));
      await untilIdle(plane);
    }
    figures[name] = {
      perSecond: median(found.map(({ load }) => load.perSecond)),
      server: median(found.map(({ server }) => server)),
      redis: median(found.map((each) => each.redis)),
    };
  }
  const rates = Object.entries(figures).map(([name, { perSecond }]) => `${name} ${Math.round(perSecond)}/s`);
  process.stdout.write(`${bytes} bytes: ${rates.join(", ")}\n`);
  return { bytes, figures };
}

/** A load leaves requests behind that nobody waits for any more. */
async function untilIdle(plane: BenchServer<unknown>): Promise<void> {
  const share = 0.1;
  const milliseconds = 200;
  for (;;) {
    const before = Number(await plane.ask("cpu"));
    await sleep(milliseconds);
    if (Number(await plane.ask("cpu")) - before < share * milliseconds * 1_000) return;
  }
}

async function requestsOf({ base, admin }: Plane, body: string): Promise<Readonly<Record<string, LoadRequest>>> {
  const headers = { authorization: `apikey ${admin}`, "content-type": "application/json" };
  const { pathname } = new URL(base);
  const paths: string[] = [];
  for (let at = 0; at < objects; at += 1) {
    const id = await sent(`${base}/api/catalogues`, { method: "POST", headers, body: body.replace("@", "0") });
    paths.push(`${pathname}/api/catalogues/${id}`);
  }
  await sent(`${base}/json/kv`, { method: "PUT", headers, body: body.replace("@", "0") });
  const object = `${base}/api/catalogues`;
  return {
    get: { url: object, headers, paths },
    PUT: { url: object, method: "PUT", headers, body, paths },
    "key/value get": { url: `${base}/json/kv`, headers },
    "key/value PUT": { url: `${base}/json/kv`, method: "PUT", headers, body, paths: [`${pathname}/json/kv`] },
    "key/value get of a part": { url: `${base}/json/kv/books/0/title`, headers },
  };
}

async function sent(url: string, request: RequestInit): Promise<string | undefined> {
  const reply = await fetch(url, request);
  if (!reply.ok) throw new Error(`${url} answered ${reply.status}: ${await reply.text()}`);
  return ((await reply.json()) as { readonly id?: string }).id;
}

/** A part of the section in docs/benchmarks.md. */
export function documentLines(rows: readonly SizedRow[]): readonly string[] {
  const names = Object.keys(rows[0]?.figures ?? {});
  const line = ({ bytes, figures }: SizedRow): string =>
    `| ${[`${bytes / 1024} KiB`, ...names.map((name) => cellOf(name, figures[name], bytes))].join(" | ")} |`;
  return [
    "## Documents of 1 KiB to 1 MiB",
    "",
    `One replica, ${connections.usual} connections (${connections.ofLarge} from ${large / 1024} KiB on); ${objects} objects in turn, one key/value document. Each PUT changes a number and sends all the`,
    "rest again. Values are arrays of records of some 600 bytes; objects are validated against their schema. The cells are requests a second,",
    "megabytes a second, and milliseconds of CPU time per request: replica + Redis.",
    "",
    `| size | ${names.join(" | ")} |`,
    `|---|${names.map(() => "---:|").join("")}`,
    ...rows.map(line),
    "",
  ];
}

function cellOf(name: string, figures: Figures | undefined, bytes: number): string {
  const { perSecond, server, redis } = figures ?? { perSecond: Number.NaN, server: Number.NaN, redis: Number.NaN };
  const megabytes = (perSecond * bytes) / 1e6;
  const moved = name.endsWith("part") ? [] : [`${megabytes.toFixed(megabytes < 10 ? 1 : 0)} MB/s`];
  const cpu = [server, redis].map((microseconds) => (microseconds / 1_000).toFixed(2)).join(" + ");
  return [`${perSecond.toFixed(perSecond < 100 ? 1 : 0)} /s`, ...moved, `${cpu} ms`].join("<br>");
}
