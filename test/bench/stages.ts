// What each stage of a request takes of its CPU time: the stages' own functions in a loop (stage-costs.ts), against what the whole
// process takes per request under load.

import { costOf } from "./cpu.ts";
import type { Loader, LoadOptions, LoadRequest } from "./load.ts";
import { median } from "./median.ts";
import type { Operation, OperationName } from "./operations.ts";
import { type BenchServer, startServer } from "./processes.ts";

export type StagedOperation = OperationName &
  ("get, API key" | "get, JWT" | "list of 10, sorted" | "create, three indexes");

export const stagedOperations: readonly StagedOperation[] = [
  "get, API key",
  "get, JWT",
  "list of 10, sorted",
  "create, three indexes",
];

const stageNames = ["router", "authentication", "policy", "validation", "entity tag", "log line", "metrics"] as const;

export type StageName = (typeof stageNames)[number];

/** Microseconds of CPU time. */
export interface StagedRow {
  readonly name: StagedOperation;
  readonly stages: Readonly<Partial<Record<StageName, number>>>;
  readonly whole: number;
  /** Of the bare server's answer to the same. */
  readonly bare: number;
}

export interface StagedServers {
  readonly plane: BenchServer<unknown>;
  readonly bare: BenchServer<unknown>;
}

export interface StagedLoad {
  readonly loader: Loader;
  readonly options: LoadOptions;
  readonly rounds: number;
}

export async function measureStages(
  servers: StagedServers,
  operations: readonly Operation[],
  load: StagedLoad,
): Promise<readonly StagedRow[]> {
  const alone = await startServer<Record<StagedOperation, StagedRow["stages"]>>("stage-costs.ts", []);
  await alone.stop();
  const cpuOf = async (server: BenchServer<unknown>, request: LoadRequest): Promise<number> =>
    (await costOf({ server, nodes: [] }, () => load.loader(request, load.options))).server;
  const rows: StagedRow[] = [];
  for (const name of stagedOperations) {
    const operation = operations.find((each) => each.name === name);
    if (!operation?.bare) throw new Error(`There is no operation ${name} that bare fastify does as well`);
    const whole: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round < load.rounds; round += 1) {
      whole.push(await cpuOf(servers.plane, operation.plane));
      bare.push(await cpuOf(servers.bare, operation.bare));
    }
    rows.push({ name, stages: alone.says[name], whole: median(whole), bare: median(bare) });
  }
  return rows;
}

/** A section of docs/benchmarks.md. */
export function stageLines(rows: readonly StagedRow[]): readonly string[] {
  const line = (name: string, cell: (row: StagedRow) => number | undefined): string =>
    `| ${[name, ...rows.map((row) => shareOf(cell(row), row.whole))].join(" | ")} |`;
  const staged = ({ stages }: StagedRow): number => stageNames.reduce((sum, name) => sum + (stages[name] ?? 0), 0);
  return [
    "## Cost per stage",
    "",
    "Microseconds of CPU time, and their share of the whole request. A stage is measured by calling its functions, with 1,000",
    "different requests in turn, in a loop in a process of its own. The caches are warm, so this is a lower bound. The whole is the CPU time of the data plane's",
    "process under load, all threads, divided by its answers. *all else* is the rest: Node's HTTP and sockets, fastify,",
    "the Redis client, answers, promises, garbage collection. Router, authentication, policy and the validation of a list are the cost of deciding: a warm request finds its plan instead. An entity tag is the",
    "SHA-1 of the answer's text; processors with instructions for it need less time (`sha_ni` in /proc/cpuinfo).",
    "",
    `| stage | ${rows.map(({ name }) => name).join(" | ")} |`,
    `|---|${rows.map(() => "---:|").join("")}`,
    ...stageNames.map((name) => line(name, ({ stages }) => stages[name])),
    line("all else", (row) => row.whole - staged(row)),
    line("**whole request**", ({ whole }) => whole),
    line("bare fastify and ioredis, the same", ({ bare }) => bare),
    "",
  ];
}

function shareOf(microseconds: number | undefined, whole: number): string {
  if (microseconds === undefined) return "–";
  const digits = microseconds < 10 ? 2 : 0;
  return `${microseconds.toFixed(digits)} (${((100 * microseconds) / whole).toFixed(1)} %)`;
}
