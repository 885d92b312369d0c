// Kills a process that writes to an embedded store at seeded moments, while it starts and while it
// writes, and looks at what the next process finds.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import { checkLanes } from "../support/killed-writer/check-lanes.ts";
import { type KilledWriter, writeUntilKilled } from "../support/killed-writer/killed-writer.ts";
import { emptyLane, laneCount } from "../support/killed-writer/lanes.ts";
import { seededMoments } from "../support/time/seeded-moments.ts";
import { countForTier, testSeed } from "../support/time/test-tier.ts";

const program = fileURLToPath(new URL("../support/killed-writer/embedded-writer.ts", import.meta.url));
const rounds = countForTier(8, 50);
/**
 * Every fourth writer dies within this time of its start, maybe while it opens or migrates; the
 * others while they write.
 */
const startMilliseconds = 300;
const maxWrites = 200;

describe("an embedded store whose process is killed", () => {
  let directory = "";
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "jsonplane-kill-"));
  });
  afterAll(() => rm(directory, { recursive: true }));

  it(`holds every acknowledged write and exact indexes, ${rounds} times in a row`, async () => {
    const lanes = Array.from({ length: laneCount }, emptyLane);
    const moment = seededMoments(testSeed());
    let acknowledged = 0;
    for (let round = 0; round < rounds; round += 1) {
      const dies: KilledWriter["dies"] =
        round % 4 === 0
          ? { millisecondsAfterStart: startMilliseconds * moment() }
          : { afterWrites: 1 + Math.floor(maxWrites * moment()) };
      acknowledged += await writeUntilKilled({ program: [program, directory, String(round)], dies }, lanes);
      const store = await createEmbeddedStore({ directory, clock: systemClock });
      await checkLanes(store, lanes);
      await store.close();
    }
    expect(acknowledged).toBeGreaterThan(rounds * laneCount);
  });
});
