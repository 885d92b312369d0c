// `npm run bench:projects`: 1,000 and 10,000 typical projects (BENCH_PROJECTS says otherwise) published to a real Redis, and what they cost
// a replica: time until it is ready, the first request of a project that isn't loaded, memory with none, with a thousand and with all of
// them loaded. With --write it puts the table into docs/benchmarks.md.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import type { ProjectParts } from "../../core/config/types.ts";
import { startScript } from "../../tools/start-script.ts";
import { begunPublisher, openRedisClient } from "../support/fleet/publishing.ts";
import { type Replica, startReplica } from "../support/fleet/replica.ts";
import { apikey, project, withKey, withResource, withRootKey, withUser } from "../support/http/projects.ts";
import { startRedis } from "../support/redis/redis.ts";
import { numbersFrom, readWrite } from "./bench-arguments.ts";
import { writeSection } from "./page.ts";
import { bookIndexes, bookSchema } from "./subjects.ts";

startScript("npm run bench:projects");
const writes = readWrite();
const counts = numbersFrom("BENCH_PROJECTS", [1_000, 10_000]);
const budgets = { coldMs: 50, readySeconds: 1.5 };
const mebibyte = 2 ** 20;

interface Measured {
  readonly count: number;
  readonly redisBytes: number;
  readonly readySeconds: number;
  readonly idle: number;
  readonly coldP50: number;
  readonly coldP99: number;
  /** Resident bytes with 1,000 loaded, the others having been. */
  readonly bounded: number;
  readonly all: number;
}

const measured: Measured[] = [];
for (const count of counts) {
  measured.push(await measure(count));
  process.stdout.write(`${JSON.stringify(measured.at(-1))}\n`);
}
const text = page();
process.stdout.write(text);
if (writes) await writeSection("# Many projects", text);

/** Two resources of seven fields with indexes, a root key, a user and a key: what a small team has. */
function typical(index: number): ProjectParts {
  return project(
    `p-${index}`,
    withKey("reader"),
    withUser("ann"),
    withResource("books", { schema: bookSchema, indexes: bookIndexes }),
    withResource("notes", { schema: bookSchema, indexes: ["title"] }),
    withRootKey("flags"),
  );
}

async function measure(count: number): Promise<Measured> {
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-bench-"));
  const redis = await startRedis();
  const client = new Redis(redis.url, { protocol: 2 });
  try {
    const keyringText = newKeyringText();
    const keyring = join(folder, "keyring.json");
    await writeFile(keyring, keyringText, { mode: 0o600 });
    const used = async (): Promise<number> =>
      Number(/used_memory:(\d+)/.exec(await client.info("memory"))?.[1] ?? Number.NaN);
    const empty = await used();
    const redisClient = await openRedisClient(redis.url);
    const publisher = await begunPublisher({ redisClient, keyring: parseKeyring(keyringText) });
    for (let index = 0; index < count; index += 1) await publisher.publish(typical(index));
    await publisher.complete();
    redisClient.disconnect();
    const redisBytes = ((await used()) - empty) / count;

    const start = (name: string, most: number): Promise<Replica> =>
      startReplica({ redis: redis.url, keyring, name, args: ["--max-projects", String(most), "--log-level", "warn"] });
    const began = performance.now();
    const bounded = await start("bounded", 1_000);
    const readySeconds = (performance.now() - began) / 1000;
    const idle = await residentBytes(bounded);
    const cold = await askAll(bounded, count);
    const afterAll = await residentBytes(bounded);
    await bounded.stop();
    const whole = await start("whole", count);
    await askAll(whole, count);
    const all = await residentBytes(whole);
    await whole.stop();
    const at = (share: number): number => cold[Math.floor(cold.length * share)] ?? Number.NaN;
    return { count, redisBytes, readySeconds, idle, coldP50: at(0.5), coldP99: at(0.99), bounded: afterAll, all };
  } finally {
    client.disconnect();
    await redis.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Each project's first request, one after the other; sorted milliseconds. */
async function askAll(replica: Replica, count: number): Promise<readonly number[]> {
  const durations: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const began = performance.now();
    const reply = await replica.send(`/default/p-${index}/api/books`, { as: apikey("reader") });
    if (reply.status !== 200) throw new Error(`Project ${index} answered ${reply.status}: ${reply.text}`);
    durations.push(performance.now() - began);
  }
  return durations.sort((left, right) => left - right);
}

async function residentBytes(replica: Replica): Promise<number> {
  const text = await fetch(`${replica.adminUrl}/metrics`).then((reply) => reply.text());
  return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]);
}

function page(): string {
  const row = (what: string, budget: string, figure: (each: Measured) => string): string =>
    `| ${[what, ...measured.map(figure), budget].join(" | ")} |`;
  const memory = (bytes: number): string => `${Math.round(bytes / mebibyte)} MiB`;
  return [
    "# Many projects",
    "",
    "Made by `npm run bench:projects -- --write`: projects of two resources, a root key, a user and a key each, published to Redis, and one",
    "replica that serves them. Each project gets one request, one after the other, from the program as it is installed.",
    "",
    `| what | ${measured.map(({ count }) => `${count.toLocaleString("en")} projects`).join(" | ")} | budget |`,
    `|---|${measured.map(() => "---:|").join("")}---:|`,
    row("configuration in Redis, bytes a project", "–", (each) => String(Math.round(each.redisBytes))),
    row("start until ready", `${budgets.readySeconds} s at 100`, (each) => `${each.readySeconds.toFixed(1)} s`),
    row("first request of a project, p50", "–", (each) => `${each.coldP50.toFixed(1)} ms`),
    row("first request of a project, p99", `${budgets.coldMs} ms`, (each) => `${each.coldP99.toFixed(1)} ms`),
    row("memory of a replica without any request", "–", (each) => memory(each.idle)),
    row("after requests for all, 1,000 kept loaded (the default)", "–", (each) => memory(each.bounded)),
    row("after requests for all, all kept loaded", "–", (each) => memory(each.all)),
    "",
  ].join("\n");
}
