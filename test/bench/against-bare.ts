// `npm run bench`: jsonplane and a bare fastify with ioredis get the same requests in turns. Prints
// requests a second and their ratio, which has a budget for each operation, and CPU time.

import { readArguments } from "../../tools/script-arguments.ts";
import { lengthOf, machine, median, printTable, ratiosOf, spread } from "./figures.ts";
import { type Load, sendLoad } from "./load.ts";
import { type Operation, operations } from "./operations.ts";
import { openStage } from "./stage.ts";

const objects = 1_000;
const connections = 64;
/** V8 compiles hot functions step by step in the first seconds of load. */
const warmUp = { connections, seconds: 5 };

interface Row {
  readonly operation: Operation;
  readonly plane: readonly Load[];
  readonly ratios: readonly number[];
  /** Microseconds of a request in each round, of the replica and of Redis. */
  readonly cpu: readonly Cpu[];
}

type Cpu = readonly [replica: number, redis: number];

export async function measureOperations(args: readonly string[]): Promise<void> {
  readArguments({}, [], args);
  const { rounds, seconds } = lengthOf({ rounds: 3, seconds: 2 });
  const stage = await openStage(objects);
  try {
    console.log(`${rounds} rounds of ${seconds} s, ${connections} connections (${machine()})\n`);
    const rows: Row[] = [];
    for (const operation of operations(stage.at)) {
      rows.push(await measure(operation, stage.cpu, { rounds, connections, seconds }));
    }
    printRows(rows);
  } finally {
    await stage.close();
  }
}

interface Length {
  readonly rounds: number;
  readonly connections: number;
  readonly seconds: number;
}

/** In turns, so that a machine whose speed drifts treats both alike. */
async function measure(operation: Operation, cpu: () => Promise<Cpu>, { rounds, ...options }: Length): Promise<Row> {
  const plane: Load[] = [];
  const bare: Load[] = [];
  const used: Cpu[] = [];
  await sendLoad(operation.plane, warmUp);
  await sendLoad(operation.bare, warmUp);
  for (let round = 0; round < rounds; round += 1) {
    const before = await cpu();
    const load = await sendLoad(operation.plane, options);
    const after = await cpu();
    plane.push(load);
    used.push([(after[0] - before[0]) / load.requests, (after[1] - before[1]) / load.requests]);
    bare.push(await sendLoad(operation.bare, options));
  }
  const perSecond = (loads: readonly Load[]) => loads.map((load) => load.perSecond);
  return { operation, plane, ratios: ratiosOf(perSecond(plane), perSecond(bare)), cpu: used };
}

function printRows(rows: readonly Row[]): void {
  const cells = rows.map(({ operation: { name, budget }, plane, ratios, cpu }) => {
    const middle = (value: (load: Load) => number) => median(plane.map(value));
    const times = [middle((load) => load.p50).toFixed(1), middle((load) => load.p99).toFixed(1)];
    const used = [0, 1].map((of) => median(cpu.map((each) => each[of] ?? 0)).toFixed(0));
    return [name, Math.round(middle((load) => load.perSecond)), ...times, spread(ratios), `≥ ${budget}`, ...used];
  });
  printTable(
    ["operation", "jsonplane /s", "p50 ms", "p99 ms", "against bare", "budget", "replica µs", "Redis µs"],
    cells,
  );
  const missed = rows.filter(({ operation, ratios }) => median(ratios) < operation.budget);
  console.log(`\nBelow the budget: ${missed.map(({ operation }) => operation.name).join("; ") || "none"}.`);
}
