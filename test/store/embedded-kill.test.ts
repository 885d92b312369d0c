// Kills a process that writes to an embedded store at seeded moments, while it starts and while it writes, and looks at what
// the next process finds.

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { expectIndexesExact } from "../support/check-integrity.ts";
import {
  effects,
  emptyLane,
  followLine,
  type LaneEffects,
  type LaneLine,
  type LaneState,
  laneCount,
  settle,
  writtenCollection,
  writtenDocument,
} from "../support/lanes.ts";

const writer = fileURLToPath(new URL("../support/embedded-writer.ts", import.meta.url));
const rounds = 25;
/** Every fifth writer dies within this time of its start, maybe while it opens or migrates; the others while they write. */
const startMilliseconds = 300;
const writeMilliseconds = 250;

describe("an embedded store whose process is killed", () => {
  let directory = "";
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "jsonplane-kill-"));
  });
  afterAll(() => rm(directory, { recursive: true }));

  it(`holds every acknowledged write and exact indexes, ${rounds} times in a row`, async () => {
    const lanes = Array.from({ length: laneCount }, emptyLane);
    let seed = 20_261_121;
    let acknowledged = 0;
    for (let round = 0; round < rounds; round += 1) {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      const moment = { fromStart: round % 5 === 0, fraction: seed / 2 ** 32 };
      acknowledged += await writeUntilKilled(directory, { round, moment }, lanes);
      const store = await createEmbeddedStore({ directory, clock: systemClock });
      await check(store, lanes);
      await store.close();
    }
    expect(acknowledged).toBeGreaterThan(rounds * laneCount);
  });
});

interface Round {
  readonly round: number;
  readonly moment: { readonly fromStart: boolean; readonly fraction: number };
}

/** Follows what the writer says until its pipe ends; returns how many writes were acknowledged. */
async function writeUntilKilled(
  directory: string,
  { round, moment }: Round,
  lanes: readonly LaneState[],
): Promise<number> {
  const child = spawn(process.execPath, [writer, directory, String(round)], { stdio: ["ignore", "pipe", "pipe"] });
  const kill = (within: number) => setTimeout(() => child.kill("SIGKILL"), within * moment.fraction);
  let complaints = "";
  child.stderr.on("data", (chunk: Buffer) => (complaints += chunk.toString()));
  const ended = new Promise((resolve) => child.once("exit", (_code, signal) => resolve(signal)));
  if (moment.fromStart) kill(startMilliseconds);
  let acknowledged = 0;
  for await (const text of createInterface({ input: child.stdout })) {
    const line = parsed(text);
    if (line === undefined) break;
    if ("ready" in line && !moment.fromStart) kill(writeMilliseconds);
    if ("done" in line) acknowledged += 1;
    followLine(lanes, line);
  }
  expect([await ended, complaints]).toEqual(["SIGKILL", ""]);
  return acknowledged;
}

/** Undefined for a line that the kill cut off. */
function parsed(text: string): LaneLine | undefined {
  return text.endsWith("}") ? (JSON.parse(text) as LaneLine) : undefined;
}

async function check(store: Store, lanes: readonly LaneState[]): Promise<void> {
  await expectIndexesExact(
    store,
    writtenCollection,
    lanes.map((_, lane) => `user:lane${lane}`),
  );
  for (const [lane, state] of lanes.entries()) {
    const found = await effectsIn(store, lane);
    if (state.pending !== undefined && isSame(found, effects(state, lane, true))) settle(state);
    state.pending = undefined;
    expect(found).toEqual(effects(state, lane, false));
  }
}

async function effectsIn(store: Store, lane: number): Promise<LaneEffects> {
  const texts: string[] = [];
  for await (const batch of store.scan(writtenCollection, { owner: `user:lane${lane}` })) texts.push(...batch);
  const read = await store.readAt(writtenDocument, [`lane${lane}`]);
  return { texts: texts.sort(), appended: read.outcome === "found" ? (JSON.parse(read.text) as number[]) : [] };
}

function isSame(one: LaneEffects, other: LaneEffects): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
