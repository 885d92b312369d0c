// `npm run bench -- transfer`: how many objects a second an import writes, as a ratio to Redis
// without a service, in turn. Exits 1 beyond twice the goal's distance from 1.

import { readArguments } from "../../tools/script-arguments.ts";
import { startRedis } from "../support/redis/redis.ts";
import { cpuOfProcess, cpuOfRedis } from "./cpu.ts";
import { lengthOf, machine, median, printTable, ratiosOf, spread } from "./figures.ts";
import { bareRate, importRate, storedTexts } from "./import.ts";
import { startServer } from "./processes.ts";
import type { Plane } from "./stage.ts";

const objects = 20_000;
const goal = 0.5;

export async function measureTransfer(args: readonly string[]): Promise<void> {
  readArguments({}, [], args);
  const { rounds } = lengthOf({ rounds: 5, seconds: 1 });
  console.log(`${rounds} rounds of ${objects} objects (${machine()})\n`);
  const redis = await startRedis();
  const server = await startServer<Plane>("plane-server.ts", [redis.url]);
  try {
    const [imported, bare, ours, redisTimes]: [number[], number[], number[], number[]] = [[], [], [], []];
    for (let round = -1; round < rounds; round += 1) {
      const texts = storedTexts(round + 1, objects);
      const before = await Promise.all([cpuOfProcess(server.pid), cpuOfRedis(redis)]);
      const rate = await importRate(server.says, texts);
      const after = await Promise.all([cpuOfProcess(server.pid), cpuOfRedis(redis)]);
      const bareOne = await bareRate(redis.url, texts);
      // The first round warms up.
      if (round < 0) continue;
      imported.push(rate);
      bare.push(bareOne);
      ours.push((after[0] - before[0]) / objects);
      redisTimes.push((after[1] - before[1]) / objects);
    }
    const ratios = ratiosOf(imported, bare);
    console.log(
      `CPU for each object: ${median(ours).toFixed(0)} µs of the replica, ${median(redisTimes).toFixed(0)} of Redis\n`,
    );
    const rate = `${Math.round(median(imported))} a second`;
    printTable(["what", "measured", "of bare writes", "goal"], [["import", rate, spread(ratios), `≥ ${goal}`]]);
    process.exitCode = median(ratios) < goal ? 1 : 0;
  } finally {
    await server.stop();
    await redis.stop();
  }
}
