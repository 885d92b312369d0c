// `npm run bench:memory`: what a replica of 100 projects keeps of its memory after a burst of long lists and large bodies, with the image's
// settings of the allocator and with glibc's own. With --write it puts the table into docs/benchmarks.md.

import { setTimeout as sleep } from "node:timers/promises";
import autocannon from "autocannon";
import { allocatorEnvironment } from "../../tools/image/jsonplane-image.ts";
import { startScript } from "../../tools/start-script.ts";
import type { Replica } from "../support/fleet/replica.ts";
import { apikey } from "../support/http/projects.ts";
import { readWrite } from "./bench-arguments.ts";
import { writeSection } from "./page.ts";
import { bookText } from "./subjects.ts";
import { residentBytes, type TypicalProjects, typicalKey, typicalProjects } from "./typical-projects.ts";

startScript("npm run bench:memory");
const writes = readWrite();
const projects = 100;
const budgets = { idle: 150 };
const burstSeconds = 8;
/** When the memory is read after the burst. */
const secondsAfter = [30, 120] as const;
const json = { authorization: apikey(typicalKey), "content-type": "application/json" };
/** 512 KiB, as 512 members. */
const largeBody = JSON.stringify(
  Object.fromEntries(Array.from({ length: 512 }, (_, at) => [`k${at}`, "x".repeat(1_015)])),
);

interface Measured {
  readonly idle: number;
  readonly loaded: number;
  readonly afterBurst: number;
  readonly later: readonly number[];
}

const typical = await typicalProjects(projects);
try {
  const image = await measure(typical, allocatorEnvironment);
  const usual = await measure(typical, {});
  const text = page(image, usual);
  process.stdout.write(text);
  if (writes) await writeSection("# A replica's memory after a burst", text);
} finally {
  await typical.close();
}

/** Of a replica that is started with these variables. */
async function measure(from: TypicalProjects, env: Readonly<Record<string, string>>): Promise<Measured> {
  const replica = await from.startReplica({ name: "memory", env });
  try {
    await sleep(5_000);
    const idle = await residentBytes(replica);
    for (let index = 0; index < projects; index += 1) await send(replica, `/default/p-${index}/api/books`);
    const loaded = await residentBytes(replica);
    for (let index = 0; index < 1_000; index += 1)
      await send(replica, "/default/p-0/api/books", { method: "POST", body: bookText(index) });
    await burst(replica, "/default/p-0/api/books?_limit=100", { connections: 64 });
    await burst(replica, "/default/p-0/json/flags/large", { connections: 16, method: "PUT", body: largeBody });
    await burst(replica, "/default/p-0/json/flags", { connections: 16 });
    const afterBurst = await residentBytes(replica);
    const began = performance.now();
    const later: number[] = [];
    for (const seconds of secondsAfter) {
      await sleep(began + seconds * 1_000 - performance.now());
      later.push(await residentBytes(replica));
    }
    return { idle, loaded, afterBurst, later };
  } finally {
    await replica.stop();
  }
}

async function send(replica: Replica, path: string, sent: RequestInit = {}): Promise<void> {
  const reply = await fetch(`${replica.origin}${path}`, { headers: json, ...sent });
  if (!reply.ok) throw new Error(`${path} answered ${reply.status}: ${await reply.text()}`);
  await reply.arrayBuffer();
}

interface Burst {
  readonly connections: number;
  readonly method?: "PUT";
  readonly body?: string;
}

async function burst(replica: Replica, path: string, options: Burst): Promise<void> {
  const url = `${replica.origin}${path}`;
  const done = await autocannon({ url, duration: burstSeconds, headers: json, timeout: 30, ...options });
  const refused = done.non2xx + done.errors;
  if (refused >= done.requests.total) throw new Error(`All ${refused} requests for ${path} failed`);
  process.stdout.write(
    `${options.method ?? "GET"} ${path}: ${done.requests.total} answers, ${refused} of them refusals\n`,
  );
}

function page(image: Measured, usual: Measured): string {
  const row = (what: string, figure: (of: Measured) => number, budget = "–"): string =>
    `| ${[what, ...[image, usual].map((of) => `${Math.round(figure(of) / 2 ** 20)} MiB`), budget].join(" | ")} |`;
  return [
    "# A replica's memory after a burst",
    "",
    `Made by \`npm run bench:memory -- --write\`: resident memory of a replica that serves ${projects} projects. The burst: ${burstSeconds} s of lists of 100 objects over 64`,
    `connections, then as long of writes and of reads of a document of 512 KiB over 16. The image's settings are ${Object.keys(
      allocatorEnvironment,
    )
      .map((name) => `\`${name}\``)
      .join(" and ")}`,
    "of glibc, 128 KiB each.",
    "",
    "| memory | with the image's settings | with glibc's own | budget |",
    "|---|---:|---:|---:|",
    row("without any request", (of) => of.idle),
    row("every project loaded", (of) => of.loaded, `${budgets.idle} MiB`),
    row("at the end of the burst", (of) => of.afterBurst),
    ...secondsAfter.map((seconds, at) => row(`${seconds} s later`, (of) => of.later[at] ?? Number.NaN)),
    "",
  ].join("\n");
}
