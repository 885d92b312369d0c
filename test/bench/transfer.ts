// `npm run bench -- transfer`: how many objects a second an import writes and an export reads, as
// ratios to Redis without a service, in turn. Exits 1 below the goal. With `--objects N` it
// measures memory instead.

import { Redis } from "ioredis";
import { readArguments, wholeNumber } from "../../tools/script-arguments.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { cpuOfProcess, cpuOfRedis } from "./cpu.ts";
import { bareReadRate, exportedObjects, exportRate, fillForExport, keysOfExported } from "./export.ts";
import { lengthOf, machine, median, printTable, ratiosOf, spread } from "./figures.ts";
import { bareRate, importRate, storedTexts } from "./import.ts";
import { measureLargeTransfer } from "./large-transfer.ts";
import { type BenchServer, startServer } from "./processes.ts";
import type { Plane } from "./stage.ts";

const importedObjects = 20_000;
const goal = 0.5;

interface Direction {
  readonly name: string;
  readonly objects: number;
  /** Objects a second of the service, and of Redis alone. */
  readonly rates: (round: number) => readonly [service: () => Promise<number>, bare: () => Promise<number>];
}

export async function measureTransfer(args: readonly string[]): Promise<void> {
  const { values } = readArguments({ objects: { type: "string" } }, [], args);
  if (values.objects !== undefined) return await measureLargeTransfer(wholeNumber("--objects", values.objects, 1));
  const { rounds } = lengthOf({ rounds: 5, seconds: 1 });
  console.log(`${rounds} rounds (${machine()})\n`);
  const redis = await startRedis();
  const server = await startServer<Plane>("plane-server.ts", [redis.url]);
  const bare = new Redis(redis.url, { protocol: 2 });
  try {
    await fillForExport(server.says);
    const keys = await keysOfExported(bare);
    const directions: readonly Direction[] = [
      {
        name: "export",
        objects: exportedObjects,
        rates: () => [() => exportRate(server.says), () => bareReadRate(bare, keys)],
      },
      {
        name: "import",
        objects: importedObjects,
        rates(round) {
          const texts = storedTexts(round + 1, importedObjects);
          return [() => importRate(server.says, texts), () => bareRate(redis.url, texts)];
        },
      },
    ];
    const rows: Measured[] = [];
    for (const direction of directions) rows.push(await measure(direction, rounds, { redis, server }));
    printTable(
      ["what", "a second", "of bare Redis", "µs CPU of the replica", "of Redis", "goal"],
      rows.map(({ cells }) => [...cells, `≥ ${goal}`]),
    );
    process.exitCode = rows.some(({ ratio }) => ratio < goal) ? 1 : 0;
  } finally {
    bare.disconnect();
    await server.stop();
    await redis.stop();
  }
}

interface Measured {
  readonly ratio: number;
  readonly cells: readonly (string | number)[];
}

async function measure(
  { name, objects, rates }: Direction,
  rounds: number,
  { redis, server }: { readonly redis: TestRedis; readonly server: BenchServer<Plane> },
): Promise<Measured> {
  const cpu = () => Promise.all([cpuOfProcess(server.pid), cpuOfRedis(redis)]);
  const [measured, bare, ours, redisTimes]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let round = -1; round < rounds; round += 1) {
    const [ofService, ofRedis] = rates(round);
    const before = await cpu();
    const rate = await ofService();
    const after = await cpu();
    const bareOne = await ofRedis();
    // The first round warms up.
    if (round < 0) continue;
    measured.push(rate);
    bare.push(bareOne);
    ours.push((after[0] - before[0]) / objects);
    redisTimes.push((after[1] - before[1]) / objects);
  }
  const ratios = ratiosOf(measured, bare);
  const times = [median(ours).toFixed(1), median(redisTimes).toFixed(1)];
  return { ratio: median(ratios), cells: [name, Math.round(median(measured)), spread(ratios), ...times] };
}
