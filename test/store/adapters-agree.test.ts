// Carries out the same random calls on the embedded store and on real Redis JSON: every answer must
// be the same, and at the end everything that can be read.

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { expectIndexesExact } from "../support/redis/check-integrity.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { sharedRedis } from "../support/redis/shared-redis.ts";
import { owners, untilDone } from "../support/store/object-calls.ts";
import { type Call, type Subject, subjectOf } from "../support/store/store-call.ts";
import { callSequences } from "../support/store/store-calls.ts";
import { manualClock } from "../support/time/manual-clock.ts";
import { countForTier, testSeed } from "../support/time/test-tier.ts";
import { freshProject } from "./contract/fixture.ts";

describe("the embedded store and the Redis store", () => {
  const clocks = { embedded: manualClock(), redis: manualClock() };
  let embeddedStore: Store;
  let redisStore: Store;

  beforeAll(async () => {
    embeddedStore = await createEmbeddedStore({ directory: ":memory:", clock: clocks.embedded });
    redisStore = await openRedisStore({ url: sharedRedis().url, clock: clocks.redis });
  });
  afterAll(() => Promise.all([embeddedStore.close(), redisStore.close()]));

  it("give the same answers to the same calls", async () => {
    await fc.assert(
      fc.asyncProperty(callSequences, async (calls) => {
        const project = freshProject();
        const subjects = [
          subjectOf(embeddedStore, clocks.embedded, project),
          subjectOf(redisStore, clocks.redis, project),
        ];
        for (const [step, call] of calls.entries()) {
          const [first, second] = await Promise.all(subjects.map((subject) => outcome(call, subject)));
          expect({ step, call: call.what, redis: second }).toEqual({ step, call: call.what, redis: first });
        }
        for (const subject of subjects) await checkIndexes(subject);
      }),
      { numRuns: countForTier(60), seed: testSeed() },
    );
  });
});

async function outcome(call: Call, subject: Subject): Promise<unknown> {
  try {
    return await call.run(subject);
  } catch (error) {
    return { thrown: error instanceof Error ? error.name : String(error) };
  }
}

async function checkIndexes({ store, collection }: Subject): Promise<void> {
  await untilDone(() => store.buildIndexes(collection));
  await expectIndexesExact(store, collection, owners);
}
