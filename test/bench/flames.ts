// `npm run bench:flames`: takes CPU profiles of a data-plane process under load, for the three hottest paths, and says where its time
// goes. With --write it puts the flame graphs into docs/flames/ and the words into docs/benchmarks.md.

import { mkdir, writeFile } from "node:fs/promises";
import { startScript } from "../../tools/start-script.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { readLength, readWrite } from "./bench-arguments.ts";
import { costOf } from "./cpu.ts";
import { flameGraph } from "./flame-graph.ts";
import { fillBooks, hottestRequests } from "./hottest.ts";
import { findLoader, type LoadRequest } from "./load.ts";
import { machine } from "./machine.ts";
import { writeSection } from "./page.ts";
import { type BenchServer, startServer } from "./processes.ts";
import { type Call, type CpuProfile, partNames, timesByFunction, timesByPart, treeOf } from "./profile-tree.ts";
import type { Plane } from "./stage.ts";

startScript("npm run bench:flames");
const writes = readWrite();
const load = { connections: 64, seconds: readLength({ rounds: 1, seconds: 5 }).seconds };
const warmUp = { connections: 64, seconds: 2 };
const objects = 200;
const folder = new URL("../../docs/flames/", import.meta.url);
/** Functions that are named for each path. */
const named = 8;

interface Flame {
  readonly name: string;
  readonly tree: Call;
  /** Microseconds of CPU time per request. */
  readonly plane: number;
  readonly redis: number;
}

const { load: loader, name: loaderName } = await findLoader();
const redis = await startRedis();
const plane = await startServer<Plane>("plane-server.ts", [redis.url]);
try {
  const ids = await fillBooks(plane.says, objects);
  const flames: Flame[] = [];
  for (const [name, request] of Object.entries(hottestRequests(plane.says.base, plane.says.admin, ids))) {
    flames.push(await profile(name, request, { redis, plane }));
  }
  const text = page(flames);
  process.stdout.write(text);
  if (writes) {
    await mkdir(folder, { recursive: true });
    for (const { name, tree } of flames) {
      await writeFile(
        new URL(fileOf(name), folder),
        flameGraph(tree, `Where the CPU time of the data plane goes: ${name}`),
      );
    }
    await writeSection("# Where the time goes", text);
  }
} finally {
  await plane.stop();
  await redis.stop();
}

async function profile(
  name: string,
  request: LoadRequest,
  servers: { readonly redis: TestRedis; readonly plane: BenchServer<Plane> },
): Promise<Flame> {
  await loader(request, warmUp);
  // Sampling has its price: what a request takes is measured without it.
  const observed = { server: servers.plane, nodes: [servers.redis] };
  const cost = await costOf(observed, () => loader(request, load));
  await servers.plane.ask("profile");
  await loader(request, load);
  const tree = treeOf((await servers.plane.ask("profiled")) as CpuProfile);
  return { name, tree, plane: cost.server, redis: cost.redis };
}

function fileOf(name: string): string {
  return `${name.replace(/[^a-z]+/gi, "-").toLowerCase()}.svg`;
}

function page(flames: readonly Flame[]): string {
  const share = (time: number | undefined, { tree }: Flame): string =>
    time === undefined ? "–" : `${((100 * time) / tree.total).toFixed(1)} %`;
  const line = (part: ReturnType<typeof partNames>[number]): string =>
    `| ${[part, ...flames.map((flame) => share(timesByPart(flame.tree).get(part), flame))].join(" | ")} |`;
  return [
    "# Where the time goes",
    "",
    `Made by \`npm run bench:flames -- --write\`: CPU profiles of one data-plane process under ${load.connections} connections for ${load.seconds} s by ${loaderName}, after`,
    `${warmUp.seconds} s of warm-up; ${objects} objects. The cores are shared with Redis and the load generator (${machine()}).`,
    "Shares of the time in which the process was not idle, by the file of the function. Functions that are built into the engine count for",
    "their caller, so *Node's sockets* contains the system calls: `writeUtf8String` sends an answer, `writev` sends the commands of one turn to Redis.",
    "*Engine and system calls* is the time in which no function is on the stack.",
    "",
    `| part | ${flames.map(({ name }) => name).join(" | ")} |`,
    `|---|${flames.map(() => "---:|").join("")}`,
    ...partNames().map(line),
    `| **CPU of the data plane, µs a request** | ${flames.map(({ plane: time }) => time.toFixed(0)).join(" | ")} |`,
    `| CPU of Redis, µs a request | ${flames.map(({ redis: time }) => time.toFixed(0)).join(" | ")} |`,
    "",
    ...flames.flatMap(linesOf),
  ].join("\n");
}

function linesOf(flame: Flame): readonly string[] {
  const percent = (time: number): string => `${((100 * time) / flame.tree.total).toFixed(0)} %`;
  const most = [...timesByPart(flame.tree)].slice(0, 4).map(([part, time]) => `${part} ${percent(time)}`);
  const functions = [...timesByFunction(flame.tree)]
    .slice(0, named)
    .map(([name, time]) => `\`${name}\` ${percent(time)}`);
  return [
    `## ${flame.name}`,
    "",
    `The largest parts: ${most.join(", ")}. The functions with the most time of their own: ${functions.join(", ")}.`,
    "",
    `![Flame graph of ${flame.name}](flames/${fileOf(flame.name)})`,
    "",
  ];
}
