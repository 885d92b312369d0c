// `npm run bench -- durability [--kills N]`: for each way to persist and replicate, how many
// acknowledged writes are lost when a primary is killed or cut off, and how fast it writes, by the
// rate of the plainest. With `--kills 0` only the rates.
//
// Writes are JSON.SET of objects of 600 bytes, on sixteen connections without a replica of
// jsonplane: what is lost depends on Redis alone.

import { setTimeout as sleep } from "node:timers/promises";
import { mapLimited } from "../../core/map-limited.ts";
import { readArguments, wholeNumber } from "../../tools/script-arguments.ts";
import type { TestRedis } from "../support/redis/redis.ts";
import { type Acknowledged, missingAt, startWriter, type Writer } from "./acknowledged-writes.ts";
import { lengthOf, machine, printTable, ratiosOf, spread } from "./figures.ts";
import { type RedisGroup, startRedisGroup } from "./redis-group.ts";

interface Setting {
  readonly name: string;
  readonly args: readonly string[];
  readonly replicas: number;
  /** Of WAIT; 0 = a write counts once it is answered. */
  readonly copies: number;
}

type Failure = (group: RedisGroup, writer: Writer) => Promise<TestRedis>;

const usualKills = "50";
/** Trials that run at the same time. */
const trialsAtOnce = 3;
/** How long is written before something fails, and how long to a primary that is cut off. */
const writesMs = { least: 300, more: 700 };
const cutOffMs = 10_000;

const everysec = ["--appendonly", "yes", "--appendfsync", "everysec"];
const always = ["--appendonly", "yes", "--appendfsync", "always"];
const minReplicas = ["--min-replicas-to-write", "1", "--min-replicas-max-lag", "3"];

const plainest: Setting = { name: "one server, `appendfsync everysec`", args: everysec, replicas: 0, copies: 0 };
const single: readonly Setting[] = [
  plainest,
  { name: "one server, `appendfsync always`", args: always, replicas: 0, copies: 0 },
];
const replicated: readonly Setting[] = [
  { name: "two replicas", args: everysec, replicas: 2, copies: 0 },
  { name: "two replicas, `min-replicas-to-write 1`", args: [...everysec, ...minReplicas], replicas: 2, copies: 0 },
  { name: "two replicas, `WAIT 1` after each write", args: everysec, replicas: 2, copies: 1 },
  { name: "two replicas, `WAIT 2` after each write", args: everysec, replicas: 2, copies: 2 },
];

/** The process alone: what it had written is in the kernel's memory. */
const restarted: Failure = async ({ primary }, writer) => {
  await primary.kill();
  await writer.end();
  await primary.restart();
  return primary;
};

/** With what was on its way to the replicas. */
const machineLost: Failure = async (group, writer) => {
  await Promise.all([group.cutOff(), group.primary.kill()]);
  await writer.end();
  return await group.promoted();
};

/** Clients go on writing to it, and the writes of both sides never meet. */
const cutOff: Failure = async (group, writer) => {
  await group.cutOff();
  await sleep(cutOffMs);
  await writer.end();
  return await group.promoted();
};

const failures: readonly (readonly [string, Failure, readonly Setting[]])[] = [
  ["Redis killed, started again", restarted, single],
  ["the primary's machine lost, a replica promoted", machineLost, replicated],
  [`the primary cut off for ${cutOffMs / 1_000} s with its clients, a replica promoted`, cutOff, replicated],
];

export async function measureDurability(args: readonly string[]): Promise<void> {
  const { kills = usualKills } = readArguments({ kills: { type: "string" } }, [], args).values;
  const times = wholeNumber("--kills", kills);
  if (times > 0) await measureLosses(times);
  await measureRates();
}

async function measureLosses(times: number): Promise<void> {
  console.log(`Each failure ${times} times\n`);
  const rows: (readonly (string | number)[])[] = [];
  for (const [failure, run, settings] of failures) {
    for (const setting of settings) {
      const trials = Array.from({ length: times }, () => run);
      const lost = await mapLimited(trials, trialsAtOnce, (trial) => lossOf(setting, trial));
      rows.push([failure, setting.name, ...summary(lost)]);
    }
  }
  printTable(["failure", "setting", "acknowledged", "lost", "failures with a loss", "longest span lost"], rows);
  console.log();
}

interface Loss {
  readonly acknowledged: number;
  readonly missing: readonly Acknowledged[];
}

async function lossOf({ args, replicas, copies }: Setting, fail: Failure): Promise<Loss> {
  const group = await startRedisGroup({ args, replicas, apart: true });
  try {
    const writer = startWriter(group.primary.port, copies);
    // With min-replicas-to-write, Redis acknowledges nothing before its replicas have reported.
    while (writer.acknowledged.length === 0) await sleep(10);
    await sleep(writesMs.least + Math.random() * writesMs.more);
    const survivor = await fail(group, writer);
    const { acknowledged } = writer;
    return { acknowledged: acknowledged.length, missing: await missingAt(survivor.port, acknowledged) };
  } finally {
    await group.stop();
  }
}

function summary(losses: readonly Loss[]): readonly (string | number)[] {
  const acknowledged = losses.reduce((sum, loss) => sum + loss.acknowledged, 0);
  const missing = losses.reduce((sum, loss) => sum + loss.missing.length, 0);
  const spans = losses.map(({ missing }) => (missing.at(-1)?.at ?? 0) - (missing[0]?.at ?? 0));
  const times = losses.filter((loss) => loss.missing.length > 0).length;
  return [acknowledged, missing, times, missing === 0 ? "–" : `${Math.max(...spans).toFixed(0)} ms`];
}

/** In turns, each on servers of its own. */
async function measureRates(): Promise<void> {
  const { rounds, seconds } = lengthOf({ rounds: 5, seconds: 3 });
  console.log(`${rounds} rounds of ${seconds} s (${machine()})\n`);
  const settings = [...single, ...replicated];
  const rates = settings.map((): number[] => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, setting] of settings.entries()) rates[index]?.push(await rateOf(setting, seconds));
  }
  const [base = []] = rates;
  const rows = settings.map(({ name }, index) => [name, spread(ratiosOf(rates[index] ?? [], base))]);
  printTable(["setting", "writes, of the plainest"], rows);
}

/** Writes a second. */
async function rateOf({ args, replicas, copies }: Setting, seconds: number): Promise<number> {
  const group = await startRedisGroup({ args, replicas, apart: false });
  try {
    const writer = startWriter(group.primary.port, copies);
    while (writer.acknowledged.length === 0) await sleep(10);
    const before = writer.acknowledged.length;
    await sleep(seconds * 1_000);
    const written = writer.acknowledged.length - before;
    await writer.end();
    return written / seconds;
  } finally {
    await group.stop();
  }
}
