// `npm run bench:growth`: one resource grows from 1,000 to 1,000,000 objects (BENCH_SIZES says otherwise); at each size the same requests
// are timed and Redis' memory is read, then one more index is built while reads go on. With --write it puts table and picture into docs/.
// Everything shares the cores, so what counts is each operation against itself at the first size.

import { writeFile } from "node:fs/promises";
import { Redis } from "ioredis";
import { startRedis } from "../support/redis.ts";
import { books, openFiller } from "./fill-collection.ts";
import { type Curve, growthChart } from "./growth-chart.ts";
import { buildIndex, type IndexBuild, slowCommandMs, usedBytes } from "./index-build.ts";
import { findLoader, type Loader, type LoadRequest } from "./load.ts";
import { median } from "./median.ts";
import type { Plane } from "./neighbours.ts";
import { writeSection } from "./page.ts";
import { startServer } from "./processes.ts";
import { bookText } from "./subjects.ts";

const sizes = (process.env.BENCH_SIZES ?? "1000,10000,100000,1000000").split(",").map(Number);
const rounds = Number(process.env.BENCH_ROUNDS ?? 3);
const load = { connections: 16, seconds: Number(process.env.BENCH_SECONDS ?? 2) };
const picture = new URL("../../docs/growth.svg", import.meta.url);
/** DESIGN.md's, for lists: the largest size against the smallest. */
const listBudget = 1.2;

interface Measured {
  readonly size: number;
  /** Requests a second, by operation. */
  readonly rates: ReadonlyMap<string, number>;
  /** Of Redis' memory, an object. */
  readonly bytes: number;
}

const redis = await startRedis();
const plane = await startServer<Plane & { owner: string }>("plane-server.ts", [redis.url]);
const client = new Redis(redis.url, { protocol: 2 });
try {
  const { load: loader, name } = await findLoader();
  await ask("_limit=1");
  const empty = await usedBytes(client);
  const filler = await openFiller(redis.url);
  const measured: Measured[] = [];
  await filler.upTo(sizes[0] ?? 1_000);
  // A first round for the compiler: the first size is what the others are compared with.
  for (const [operation, request] of requestsAt(sizes[0] ?? 1_000)) {
    if (operation !== "create") await loader(request, load);
  }
  for (const size of sizes) {
    await filler.upTo(size);
    const count = await countOf();
    const bytes = ((await usedBytes(client)) - empty) / count;
    measured.push({ size: count, bytes, rates: await ratesAt(loader, count) });
    const said = [...(measured.at(-1)?.rates ?? [])].map(([operation, rate]) => `${operation} ${Math.round(rate)}/s`);
    process.stdout.write(`${size}: ${Math.round(bytes)} bytes an object; ${said.join(", ")}\n`);
  }
  const count = await countOf();
  await filler.close();
  const declare = () => process.kill(plane.pid, "SIGUSR2");
  const built = await buildIndex({ ask, client, declare, sort: "author" });
  const text = page(measured, { count, ...built, loader: name });
  process.stdout.write(text);
  if (process.argv.includes("--write")) {
    await writeFile(picture, growthChart(curvesOf(measured)));
    await writeSection("# Growth", text);
  }
} finally {
  client.disconnect();
  await plane.stop();
  await redis.stop();
}

function requestsAt(size: number): ReadonlyMap<string, LoadRequest> {
  const { base, admin } = plane.says;
  const headers = { authorization: `apikey ${admin}` };
  const list = (query: string): LoadRequest => ({ url: `${base}/api/books?${query}`, headers });
  return new Map<string, LoadRequest>([
    ["list of 10", list("_limit=10")],
    ["sorted", list("_limit=10&_sort=-price")],
    ["sorted, offset N/2", list(`_limit=10&_sort=price&_offset=${Math.floor(size / 2)}`)],
    ["filtered, counted", list("_limit=10&stock=5")],
    [
      "create",
      {
        url: `${base}/api/books`,
        method: "POST",
        headers: { ...headers, "content-type": "application/json" },
        body: bookText(1),
      },
    ],
  ]);
}

async function ratesAt(loader: Loader, size: number): Promise<ReadonlyMap<string, number>> {
  const rates = new Map<string, number>();
  for (const [operation, request] of requestsAt(size)) {
    const loads: number[] = [];
    for (let round = 0; round < rounds; round += 1) loads.push((await loader(request, load)).perSecond);
    rates.set(operation, median(loads));
  }
  return rates;
}

async function ask(query: string): Promise<number> {
  const { base, admin } = plane.says;
  const reply = await fetch(`${base}/api/books?${query}`, { headers: { authorization: `apikey ${admin}` } });
  await reply.arrayBuffer();
  return reply.status;
}

function countOf(): Promise<number> {
  return client.zcard(`jp:{${books.project.namespace}/${books.project.name}/${books.resource}}:ids`);
}

function curvesOf(measured: readonly Measured[]): readonly Curve[] {
  const first = measured[0];
  return [...(first?.rates.keys() ?? [])].map((name) => ({
    name,
    points: measured.map(({ size, rates }) => [size, (first?.rates.get(name) ?? 0) / (rates.get(name) ?? 1)] as const),
  }));
}

function page(measured: readonly Measured[], built: IndexBuild & { count: number; loader: string }): string {
  const curves = curvesOf(measured);
  const lines = curves.map(({ name, points }) => {
    const cells = measured.map(
      ({ rates }, at) => `${Math.round(rates.get(name) ?? 0)} (${points[at]?.[1].toFixed(2)})`,
    );
    return `| ${[name, ...cells, name === "create" ? "–" : `≤ ${listBudget}`].join(" | ")} |`;
  });
  const perObject = measured.map(({ bytes }) => String(Math.round(bytes)));
  const { seconds, before, during, slowestCommandMs, indexBytes, count, loader } = built;
  return [
    "# Growth",
    "",
    "Made by `npm run bench:growth -- --write`: one resource with three indexes, filled to each size; requests a second by " +
      `${loader} over ${load.connections} connections, medians of ${rounds} rounds of ${load.seconds} s, and in brackets how many times as long a`,
    "request takes as at the first size.",
    "",
    `| operation | ${measured.map(({ size }) => `${size.toLocaleString("en")} objects`).join(" | ")} | budget of the last |`,
    `|---|${measured.map(() => "---:|").join("")}---:|`,
    ...lines,
    `| Redis' memory, bytes an object | ${perObject.join(" | ")} | – |`,
    "",
    "![How the time of a request grows with the resource](growth.svg)",
    "",
    `One more index over ${count.toLocaleString("en")} objects was built in ${seconds.toFixed(1)} s and took ${Math.round(indexBytes / count)} bytes an object, while ${during.lists.toLocaleString("en")} lists went on:`,
    `p99 ${during.p99.toFixed(1)} ms, the slowest ${during.slowest.toFixed(1)} ms (budget: 100 ms because of it). Just before, without it: p99 ${before.p99.toFixed(1)} ms, the slowest ${before.slowest.toFixed(1)} ms`,
    `of ${before.lists.toLocaleString("en")}. ${slowestCommandMs === undefined ? `No command took Redis ${slowCommandMs} ms` : `The slowest command took Redis ${slowestCommandMs.toFixed(1)} ms`} meanwhile.`,
    "",
  ].join("\n");
}
