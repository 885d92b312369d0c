// `npm run bench -- before [COMMIT]`: this version and an earlier one, each with a Redis of its own
// and the same objects, get the same requests in turns. Prints the ratio of speed and of CPU time.

import { join } from "node:path";
import { earlierTree } from "../../tools/earlier-tree.ts";
import { readArguments } from "../../tools/script-arguments.ts";
import { type Script, ScriptFailed } from "../../tools/start-script.ts";
import { startRedis } from "../support/redis/redis.ts";
import { cpuOfProcess, cpuOfRedis } from "./cpu.ts";
import { lengthOf, machine, median, printTable, quantile, ratiosOf } from "./figures.ts";
import { type LoadRequest, sendLoad } from "./load.ts";
import { operations } from "./operations.ts";
import { startServer } from "./processes.ts";
import { fillPlane, type Plane } from "./stage.ts";

/** The commit that versions are compared with until a release takes its place. */
const baseline = "729c1c374d753c77da07321cfdd0265c55e0ab49";
const budget = 0.97;
const connections = 64;
const objects = 1_000;

interface Version {
  /** By the operation's name. */
  readonly requests: ReadonlyMap<string, LoadRequest>;
  /** Microseconds so far, of the replica and its Redis. */
  cpu(): Promise<number>;
  stop(): Promise<void>;
}

interface Round {
  readonly perSecond: number;
  /** Microseconds per request. */
  readonly cpu: number;
}

export async function measureAgainstCommit(args: readonly string[], script: Script): Promise<void> {
  const [commit = baseline] = readArguments({}, ["[COMMIT]"], args).words;
  const length = lengthOf({ rounds: 15, seconds: 1 });
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
    console.log(`Against ${commit.slice(0, 7)}: ${length.rounds} rounds of ${length.seconds} s (${machine()})\n`);
    await compareAll({ before, now }, length);
  } finally {
    for (const version of running) await version.stop();
    await tree.remove();
  }
}

async function start(server: string): Promise<Version> {
  const redis = await startRedis();
  const plane = await startServer<Plane>(server, [redis.url]);
  const stop = async (): Promise<void> => {
    await plane.stop();
    await redis.stop();
  };
  try {
    const filled = await fillPlane(plane.says, objects);
    const all = operations({ ...filled, bare: plane.says.base });
    const requests = new Map(all.map((operation) => [operation.name, operation.plane]));
    return { requests, cpu: async () => (await cpuOfProcess(plane.pid)) + (await cpuOfRedis(redis)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Who = "before" | "now";
type Versions = Readonly<Record<Who, Version>>;

async function compareAll(versions: Versions, length: ReturnType<typeof lengthOf>): Promise<void> {
  const only = process.env.BENCH_ONLY ?? "";
  const names = [...versions.before.requests.keys()].filter((name) => name.includes(only));
  const rows: string[][] = [];
  const below: string[] = [];
  for (const name of names) {
    const rounds = await takeRounds(versions, name, length);
    const valuesOf = (who: Who, value: keyof Round) => rounds[who].map((each) => each[value]);
    const speeds = ratiosOf(valuesOf("now", "perSecond"), valuesOf("before", "perSecond"));
    const cpu = ratiosOf(valuesOf("now", "cpu"), valuesOf("before", "cpu"));
    const rates = (["before", "now"] as const).map((who) => median(valuesOf(who, "perSecond")).toFixed(0));
    rows.push([name, ...rates, quartiles(speeds), `≥ ${budget}`, quartiles(cpu)]);
    if (median(speeds) < budget) below.push(name);
  }
  printTable(["operation", "before /s", "now /s", "now : before", "budget", "CPU, now : before"], rows);
  console.log(`\nBelow the budget: ${below.join("; ") || "none"}.`);
}

/** Who goes first changes with each round. The first one warms up. */
async function takeRounds(
  versions: Versions,
  name: string,
  length: ReturnType<typeof lengthOf>,
): Promise<Readonly<Record<Who, readonly Round[]>>> {
  const rounds: Record<Who, Round[]> = { before: [], now: [] };
  for (let round = 0; round <= length.rounds; round += 1) {
    for (const who of round % 2 === 0 ? (["before", "now"] as const) : (["now", "before"] as const)) {
      const taken = await takeRound(versions[who], versions[who].requests.get(name) as LoadRequest, length.seconds);
      if (round > 0) rounds[who].push(taken);
    }
  }
  return rounds;
}

async function takeRound(version: Version, request: LoadRequest, seconds: number): Promise<Round> {
  const before = await version.cpu();
  const { perSecond, requests } = await sendLoad(request, { connections, seconds });
  return { perSecond, cpu: ((await version.cpu()) - before) / requests };
}

function quartiles(ratios: readonly number[]): string {
  const [low, high] = [quantile(ratios, 0.25), quantile(ratios, 0.75)];
  return `${median(ratios).toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;
}
