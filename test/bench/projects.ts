// `npm run bench:projects`: 1,000 and 10,000 typical projects (BENCH_PROJECTS says otherwise) published to a real Redis, and what they cost
// a replica: time until it is ready, the first request of a project that isn't loaded, memory with none, with a thousand and with all of
// them loaded. With --write it puts the table into docs/benchmarks.md.

import { Redis } from "ioredis";
import { startScript } from "../../tools/start-script.ts";
import type { Replica } from "../support/fleet/replica.ts";
import { apikey } from "../support/http/projects.ts";
import { numbersFrom, readWrite } from "./bench-arguments.ts";
import { writeSection } from "./page.ts";
import { residentBytes, typicalKey, typicalProjects } from "./typical-projects.ts";

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

async function measure(count: number): Promise<Measured> {
  const projects = await typicalProjects(count);
  const client = new Redis(projects.redis.url, { protocol: 2 });
  try {
    const start = (name: string, most: number): Promise<Replica> =>
      projects.startReplica({ name, args: ["--max-projects", String(most)] });
    const redisBytes = await configurationBytes(client);
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
    return {
      count,
      redisBytes: redisBytes / count,
      readySeconds,
      idle,
      coldP50: at(0.5),
      coldP99: at(0.99),
      bounded: afterAll,
      all,
    };
  } finally {
    client.disconnect();
    await projects.close();
  }
}

/** What Redis holds beyond what it needs for itself. */
async function configurationBytes(client: Redis): Promise<number> {
  const info = await client.info("memory");
  const bytes = (name: string): number => Number(new RegExp(`^${name}:(\\d+)`, "m").exec(info)?.[1] ?? Number.NaN);
  return bytes("used_memory") - bytes("used_memory_startup");
}

/** Each project's first request, one after the other; sorted milliseconds. */
async function askAll(replica: Replica, count: number): Promise<readonly number[]> {
  const durations: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const began = performance.now();
    const reply = await replica.send(`/default/p-${index}/api/books`, { as: apikey(typicalKey) });
    if (reply.status !== 200) throw new Error(`Project ${index} answered ${reply.status}: ${reply.text}`);
    durations.push(performance.now() - began);
  }
  return durations.sort((left, right) => left - right);
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
