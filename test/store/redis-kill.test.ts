// Kills, at seeded moments under mixed writes, a process that writes to Redis, and Redis itself,
// and looks at what is left. Few times per commit, fifty at night.

import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OutcomeUnknown, StoreUnavailable } from "../../core/errors/store-errors.ts";
import { purgeCollection, purgeDocument } from "../../dataplane/config/purge-steps.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { checkLanes } from "../support/killed-writer/check-lanes.ts";
import { writeUntilKilled } from "../support/killed-writer/killed-writer.ts";
import { carryOut, laneWrites, prepareLanes } from "../support/killed-writer/lane-writer.ts";
import {
  emptyLane,
  type LaneState,
  laneCount,
  settle,
  writtenCollection,
  writtenDocument,
} from "../support/killed-writer/lanes.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";
import { seededMoments } from "../support/time/seeded-moments.ts";
import { countForTier, testSeed } from "../support/time/test-tier.ts";

const moments = countForTier(8, 50);
/** After so many kills the lanes begin again, so that looking through everything stays quick. */
const roundsPerLife = 5;
/** Acknowledged in a round until something is killed. */
const maxWrites = 100;
const program = fileURLToPath(new URL("../support/killed-writer/redis-writer.ts", import.meta.url));

describe("a process that is killed while it writes to Redis", () => {
  const lanes = useLanes([]);

  it(`leaves every acknowledged write and exact indexes, ${moments} times in a row`, async () => {
    const moment = seededMoments(testSeed());
    let acknowledged = 0;
    for (let round = 0; round < moments; round += 1) {
      await lanes.begin(round);
      const dies = { afterWrites: 1 + Math.floor(maxWrites * moment()) };
      acknowledged += await writeUntilKilled(
        { program: [program, lanes.redis.url, String(round)], dies },
        lanes.states,
      );
      await isForgotten(lanes.redis);
      await checkLanes(lanes.store, lanes.states);
    }
    expect(acknowledged).toBeGreaterThan(moments * laneCount);
  });
});

describe("a Redis that is killed while it is written to, with appendfsync always", () => {
  const lanes = useLanes(["--appendonly", "yes", "--appendfsync", "always"]);

  it(`holds every acknowledged write and exact indexes, ${moments} times in a row`, async () => {
    const moment = seededMoments(testSeed() + 1);
    const outcomes = { settled: 0, unknown: 0 };
    for (let round = 0; round < moments; round += 1) {
      await lanes.begin(round);
      const enough = Promise.withResolvers<void>();
      let left = 1 + Math.floor(maxWrites * moment());
      const onSettled = (): void => {
        outcomes.settled += 1;
        left -= 1;
        if (left === 0) enough.resolve();
      };
      const writing = lanes.states.map((state, lane) =>
        writeUntilItFails(lanes.store, state, { round, lane, onSettled }),
      );
      await Promise.race([enough.promise, Promise.all(writing)]);
      await lanes.redis.kill("SIGKILL");
      for (const failure of await Promise.all(writing)) if (failure instanceof OutcomeUnknown) outcomes.unknown += 1;
      await lanes.redis.restart();
      await eventually(() => expect(lanes.store.health()).toMatchObject({ reachable: true }));
      await checkLanes(lanes.store, lanes.states);
    }
    expect(outcomes.settled).toBeGreaterThan(moments * laneCount);
    expect(outcomes.unknown).toBeGreaterThan(moments);
  });
});

/**
 * What a killed process had sent is carried out before Redis notices that its connection has ended.
 */
async function isForgotten(redis: TestRedis): Promise<void> {
  await eventually(async () => {
    const clients = (await askRedis(redis.port, "CLIENT LIST")).match(/ name=jsonplane /g);
    expect(clients).toHaveLength(1);
  });
}

interface LaneRound {
  readonly round: number;
  readonly lane: number;
  readonly onSettled: () => void;
}

/** A write that surely did not take place is not pending any more; one of which nobody knows is. */
async function writeUntilItFails(
  store: Store,
  state: LaneState,
  { round, lane, onSettled }: LaneRound,
): Promise<unknown> {
  for (const next of laneWrites(round, lane)) {
    state.pending = next;
    try {
      await carryOut(store, lane, next);
    } catch (failure) {
      if (failure instanceof StoreUnavailable) state.pending = undefined;
      else if (!(failure instanceof OutcomeUnknown)) throw failure;
      return failure;
    }
    settle(state);
    onSettled();
  }
  throw new Error("A lane has no end");
}

interface Lanes {
  readonly redis: TestRedis;
  readonly store: Store;
  readonly states: readonly LaneState[];
  /** Prepares a round; some begin with nothing. */
  begin(round: number): Promise<void>;
}

function useLanes(args: readonly string[]): Lanes {
  let redis: TestRedis;
  let store: Store;
  let states: LaneState[] = [];
  beforeAll(async () => {
    redis = await startRedis({ args });
    store = await openRedisStore({ url: redis.url });
  });
  afterAll(async () => {
    await store.close();
    await redis.stop();
  });
  return {
    get redis() {
      return redis;
    },
    get store() {
      return store;
    },
    get states() {
      return states;
    },
    async begin(round) {
      if (round % roundsPerLife === 0) {
        await purgeCollection(store, writtenCollection);
        await purgeDocument(store, writtenDocument);
        states = Array.from({ length: laneCount }, emptyLane);
      }
      await prepareLanes(store);
    },
  };
}
