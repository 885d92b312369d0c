// `npm run bench:growth`: one resource grows from 1,000 to 1,000,000 objects (BENCH_SIZES says otherwise); at each size the same requests
// are timed and Redis' memory is read, then one more index is built while reads go on. With --write it puts table and picture into docs/.
// Everything shares the cores, and a machine's speed drifts while a million objects are filled in: so what counts is each operation
// against the same one, by turns, on a resource that stays as small as the first size.

import { writeFile } from "node:fs/promises";
import { Redis } from "ioredis";
import { startScript } from "../../tools/start-script.ts";
import { startRedis } from "../support/redis/redis.ts";
import { numbersFrom, readLength, readWrite } from "./bench-arguments.ts";
import { collections } from "./bench-project.ts";
import { books, openFiller } from "./fill-collection.ts";
import { type Curve, growthChart } from "./growth-chart.ts";
import { buildIndex, type IndexBuild, slowCommandMs, usedBytes } from "./index-build.ts";
import { findLoader, type Loader, type LoadRequest } from "./load.ts";
import { median } from "./median.ts";
import { writeSection } from "./page.ts";
import { startServer } from "./processes.ts";
import { createBook, type Plane } from "./stage.ts";
import { bookText } from "./subjects.ts";

startScript("npm run bench:growth");
const writes = readWrite();
const sizes = numbersFrom("BENCH_SIZES", [1_000, 10_000, 100_000, 1_000_000]);
const { rounds, seconds } = readLength({ rounds: 3, seconds: 2 });
const load = { connections: 16, seconds };
/** Stays at the first size. */
const smallCollection = collections[0] ?? "";
const picture = new URL("../../docs/growth.svg", import.meta.url);
/** For lists: how much slower they may be at the largest size than at the smallest. */
const listBudget = 1.2;

interface Growth {
  /** Requests a second. */
  readonly perSecond: number;
  /** How many times as long a request takes as on the small resource. */
  readonly times: number;
}

interface Measured {
  readonly size: number;
  readonly operations: ReadonlyMap<string, Growth>;
  /** Of Redis' memory, an object. */
  readonly bytes: number;
}

const redis = await startRedis();
const plane = await startServer<Plane>("plane-server.ts", [redis.url]);
const client = new Redis(redis.url, { protocol: 2 });
try {
  const { load: loader, name } = await findLoader();
  await ask("_limit=1");
  const empty = await usedBytes(client);
  const filler = await openFiller(redis.url);
  const measured: Measured[] = [];
  const first = sizes[0] ?? 1_000;
  const { base, admin } = plane.says;
  for (let index = 0; index < first; index += 1) await createBook(`${base}/api/${smallCollection}`, admin, index);
  // A first round for the compiler.
  for (const [operation, request] of requestsTo(smallCollection, first)) {
    if (operation !== "create") await loader(request, load);
  }
  for (const [at, size] of sizes.entries()) {
    await filler.upTo(size);
    const count = await countOf(books.resource);
    // All of them are of one shape.
    const all = await Promise.all([books.resource, ...collections].map(countOf));
    const bytes = ((await usedBytes(client)) - empty) / all.reduce((sum, each) => sum + each, 0);
    const operations = await growthAt(loader, {
      large: count,
      small: first,
      emptyCollection: collections[at + 1] ?? smallCollection,
    });
    measured.push({ size: count, bytes, operations });
    const rates = [...operations].map(([name, { perSecond }]) => `${name} ${Math.round(perSecond)}/s`);
    process.stdout.write(`${size}: ${Math.round(bytes)} bytes an object; ${rates.join(", ")}\n`);
  }
  const count = await countOf(books.resource);
  await filler.close();
  const declare = () => process.kill(plane.pid, "SIGUSR2");
  const built = await buildIndex({ ask, client, declare, sort: "author" });
  const text = page(measured, { count, ...built, loader: name });
  process.stdout.write(text);
  if (writes) {
    await writeFile(picture, growthChart(curvesOf(measured)));
    await writeSection("# Growth", text);
  }
} finally {
  client.disconnect();
  await plane.stop();
  await redis.stop();
}

function requestsTo(resource: string, size: number): ReadonlyMap<string, LoadRequest> {
  const { base, admin } = plane.says;
  const headers = { authorization: `apikey ${admin}` };
  const url = `${base}/api/${resource}`;
  const list = (query: string): LoadRequest => ({ url: `${url}?${query}`, headers });
  const json = { ...headers, "content-type": "application/json" };
  return new Map<string, LoadRequest>([
    ["list of 10", list("_limit=10")],
    ["sorted", list("_limit=10&_sort=-price")],
    ["sorted, offset N/2", list(`_limit=10&_sort=price&_offset=${Math.floor(size / 2)}`)],
    ["filtered, counted", list("_limit=10&stock=5")],
    ["create", { url, method: "POST", headers: json, body: bookText(1) }],
  ]);
}

interface Compared {
  /** Objects of both resources. */
  readonly large: number;
  readonly small: number;
  /** For creates, which would have the small one grow. */
  readonly emptyCollection: string;
}

async function growthAt(
  loader: Loader,
  { large, small, emptyCollection }: Compared,
): Promise<ReadonlyMap<string, Growth>> {
  const growths = new Map<string, Growth>();
  const little = requestsTo(smallCollection, small);
  for (const [operation, request] of requestsTo(books.resource, large)) {
    const other = operation === "create" ? requestsTo(emptyCollection, small).get(operation) : little.get(operation);
    const rates: number[] = [];
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const control = (await loader(other ?? request, load)).perSecond;
      const { perSecond } = await loader(request, load);
      rates.push(perSecond);
      times.push(control / perSecond);
    }
    growths.set(operation, { perSecond: median(rates), times: median(times) });
  }
  return growths;
}

async function ask(query: string): Promise<number> {
  const { base, admin } = plane.says;
  const reply = await fetch(`${base}/api/books?${query}`, { headers: { authorization: `apikey ${admin}` } });
  await reply.arrayBuffer();
  return reply.status;
}

function countOf(resource: string): Promise<number> {
  return client.zcard(`jp:{${books.project.namespace}/${books.project.name}/${resource}}:ids`);
}

function curvesOf(measured: readonly Measured[]): readonly Curve[] {
  return [...(measured[0]?.operations.keys() ?? [])].map((name) => ({
    name,
    points: measured.map(({ size, operations }) => [size, operations.get(name)?.times ?? Number.NaN] as const),
  }));
}

function page(measured: readonly Measured[], built: IndexBuild & { count: number; loader: string }): string {
  const curves = curvesOf(measured);
  const lines = curves.map(({ name }) => {
    const cells = measured.map(({ operations }) => {
      const { perSecond = Number.NaN, times = Number.NaN } = operations.get(name) ?? {};
      return `${Math.round(perSecond)} (${times.toFixed(2)})`;
    });
    return `| ${[name, ...cells, name === "create" ? "–" : `≤ ${listBudget}`].join(" | ")} |`;
  });
  const perObject = measured.map(({ bytes }) => String(Math.round(bytes)));
  const { seconds, before, during, slowestCommandMs, indexBytes, count, loader } = built;
  return [
    "# Growth",
    "",
    "Made by `npm run bench:growth -- --write`: one resource with three indexes, filled to each size; requests a second by " +
      `${loader} over ${load.connections} connections, medians of ${rounds} rounds of ${load.seconds} s. In brackets: the time of a request divided by that of the`,
    "same request, alternating, on a resource that stays at the first size (creates: on one that is empty at first).",
    "",
    `| operation | ${measured.map(({ size }) => `${size.toLocaleString("en")} objects`).join(" | ")} | budget of the last |`,
    `|---|${measured.map(() => "---:|").join("")}---:|`,
    ...lines,
    `| Redis' memory, bytes an object | ${perObject.join(" | ")} | – |`,
    "",
    "![How the time of a request grows with the resource](growth.svg)",
    "",
    `One more index over ${count.toLocaleString("en")} objects was built in ${seconds.toFixed(1)} s and needs ${Math.round(indexBytes / count)} bytes per object, while ${during.lists.toLocaleString("en")} lists were answered:`,
    `p99 ${during.p99.toFixed(1)} ms, the slowest ${during.slowest.toFixed(1)} ms (budget: 100 ms because of the index). Just before, without the index: p99 ${before.p99.toFixed(1)} ms, the slowest ${before.slowest.toFixed(1)} ms`,
    `of ${before.lists.toLocaleString("en")}. ${slowestCommandMs === undefined ? `No command took Redis ${slowCommandMs} ms` : `The slowest command took Redis ${slowestCommandMs.toFixed(1)} ms`} meanwhile.`,
    "",
  ].join("\n");
}
