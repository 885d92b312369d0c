// `npm run bench:before -- [COMMIT]`: this version against an earlier one, the last good one by default: each with a Redis of its own and
// the same data, asked the same by turns. What came to be since must not slow down what was there. With --write the table goes into
// docs/benchmarks.md.

import { join } from "node:path";
import { earlierTree } from "../../tools/earlier-tree.ts";
import { readArguments } from "../../tools/script-arguments.ts";
import { ScriptFailed, startScript } from "../../tools/start-script.ts";
import { startRedis } from "../support/redis/redis.ts";
import { readLength, writeFlag } from "./bench-arguments.ts";
import { cpuOf, cpuOfProcess } from "./cpu.ts";
import { findLoader, type Loader, type LoadRequest } from "./load.ts";
import { machine } from "./machine.ts";
import { median } from "./median.ts";
import { type Addresses, type OperationName, operations } from "./operations.ts";
import { writeSection } from "./page.ts";
import { startServer } from "./processes.ts";
import { fillPlane, type OwnedPlane } from "./stage.ts";

const script = startScript("npm run bench:before");
const { values: flags, words } = readArguments(writeFlag, ["[COMMIT]"]);
const { rounds, seconds } = readLength({ rounds: 15, seconds: 1 });
const load = { connections: 64, seconds };
const objects = 1_000;
/** What is slower than this is slower. */
const budget = 0.97;

interface Version {
  readonly requests: ReadonlyMap<OperationName, LoadRequest>;
  /** Microseconds so far, of the replica and its Redis. */
  cpu(): Promise<number>;
  stop(): Promise<void>;
}

interface Row {
  readonly name: OperationName;
  /** Medians, requests a second. */
  readonly before: number;
  readonly now: number;
  /** Of the speeds in each round, ascending. */
  readonly ratios: readonly number[];
  /** Of the CPU time that a request took, likewise: machines whose speed drifts tell it better. */
  readonly cpuRatios: readonly number[];
}

/** One round of one version. */
interface Taken {
  readonly perSecond: number;
  /** Microseconds a request. */
  readonly cpu: number;
}

/** Budgets hold against it, until a release takes its place. */
const baseline = "729c1c374d753c77da07321cfdd0265c55e0ab49";
const [commit = baseline] = words;
const tree = await earlierTree(commit);
if (tree === undefined) {
  throw new ScriptFailed(`This clone has no commit ${commit} (git fetch --unshallow fetches all of them)`);
}
script.onInterrupt(() => tree.remove());
const running: Version[] = [];
try {
  await tree.run("npm", "ci", "--no-audit", "--no-fund");
  const before = await start(join(tree.path, "test/bench/plane-server.ts"));
  running.push(before);
  const now = await start("plane-server.ts");
  running.push(now);
  const { load: loader, name } = await findLoader();
  const rows: Row[] = [];
  const only = process.env.BENCH_ONLY;
  const names = [...before.requests.keys()].filter((each) => only === undefined || each.includes(only));
  for (const operation of names) rows.push(await compare(loader, operation, { before, now }));
  const text = page(rows, name);
  process.stdout.write(text);
  if (flags.write) await writeSection("# Against the version before", text);
} finally {
  for (const version of running) await version.stop();
  await tree.remove();
}

async function start(server: string): Promise<Version> {
  const redis = await startRedis();
  const plane = await startServer<OwnedPlane>(server, [redis.url]);
  const stop = async (): Promise<void> => {
    await plane.stop();
    await redis.stop();
  };
  try {
    const { base, admin, owner } = plane.says;
    const filled = await fillPlane(plane.says, objects);
    const at: Addresses = { ...filled, plane: base, admin, owner, bare: base, jsonServer: base };
    const requests = new Map(operations(at).map((operation) => [operation.name, operation.plane]));
    return { requests, cpu: async () => (await cpuOfProcess(plane.pid)) + (await cpuOf([redis])), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Who goes first changes with each round, so that a machine whose speed drifts treats both alike; the first round warms up. */
async function compare(
  loader: Loader,
  name: OperationName,
  versions: { readonly before: Version; readonly now: Version },
): Promise<Row> {
  const taken = { before: [] as Taken[], now: [] as Taken[] };
  for (let round = 0; round <= rounds; round += 1) {
    for (const who of round % 2 === 0 ? (["before", "now"] as const) : (["now", "before"] as const)) {
      const one = await takeRound(loader, versions[who], name);
      if (round > 0) taken[who].push(one);
    }
  }
  const ratiosOf = (value: (taken: Taken) => number): readonly number[] =>
    taken.now.map((now, round) => value(now) / value(taken.before[round] as Taken)).sort((a, b) => a - b);
  const rateOf = ({ perSecond }: Taken): number => perSecond;
  const row: Row = {
    name,
    before: median(taken.before.map(rateOf)),
    now: median(taken.now.map(rateOf)),
    ratios: ratiosOf(rateOf),
    cpuRatios: ratiosOf(({ cpu }) => cpu),
  };
  process.stdout.write(`${name}: ${spread(row.ratios)}, CPU ${spread(row.cpuRatios)}\n`);
  return row;
}

async function takeRound(loader: Loader, version: Version, name: OperationName): Promise<Taken> {
  const before = await version.cpu();
  const { perSecond, requests } = await loader(version.requests.get(name) as LoadRequest, load);
  return { perSecond, cpu: ((await version.cpu()) - before) / requests };
}

/** The median, and both quartiles. */
function spread(ratios: readonly number[]): string {
  const [low, high] = [0.25, 0.75].map((part) => ratios[Math.floor((ratios.length - 1) * part)]?.toFixed(2));
  return `${median(ratios).toFixed(2)} (${low}–${high})`;
}

function page(rows: readonly Row[], loader: string): string {
  const lines = rows.map(({ name, before, now, ratios, cpuRatios }) => {
    const cells = [name, Math.round(before), Math.round(now), spread(ratios), `≥ ${budget}`, spread(cpuRatios)];
    return `| ${cells.join(" | ")} |`;
  });
  const below = rows.filter(({ ratios }) => median(ratios) < budget).map(({ name }) => name);
  return [
    "# Against the version before",
    "",
    `Made by \`npm run bench:before -- ${commit.slice(0, 7)} --write\`: this version and that commit, each with a Redis of its own, get the same requests`,
    `alternately: ${rounds} rounds of ${load.seconds} s by ${loader} over ${load.connections} connections (${machine()}). Requests a second,`,
    "medians, and their ratio with its lower and upper quartile. The last column is the ratio of the CPU time of the replica and its Redis.",
    "",
    "| operation | before /s | now /s | now : before | budget | CPU a request, now : before |",
    "|---|---:|---:|---:|---:|---:|",
    ...lines,
    "",
    below.length === 0 ? "No operation is below the budget." : `**Below the budget:** ${below.join("; ")}.`,
    "",
  ].join("\n");
}
