// A small run of the fuzzing of custom resources; `npm run fuzz -- --seed S --requests 0
// --manifests N` makes larger ones.

import { beforeAll, expect, it } from "vitest";
import { fuzzManifests } from "../fuzz/custom-resources.ts";
import type { Fleet } from "../support/fleet/fleet.ts";
import { sharedFleet } from "../support/fleet/shared-fleet.ts";
import { countForTier, testSeed } from "../support/time/test-tier.ts";

const seed = testSeed();
const steps = countForTier(80, 1_000);

let fleet: Fleet;

beforeAll(async () => {
  fleet = await sharedFleet();
});

it(`${steps} random changes to custom resources and their Secrets: the cluster takes what jsonplane validate takes, every object is told what became of it, what is Ready is served, the operator goes on`, async () => {
  const report = await fuzzManifests(fleet, { seed, steps });
  expect(report.faults, `seed ${seed}`).toEqual([]);
  expect(report.steps).toBeGreaterThanOrEqual(steps);
  expect(report.reasons["Ready"]).toBeGreaterThan(steps / 20);
  expect(report.served).toBeGreaterThan(steps / 40);
});
