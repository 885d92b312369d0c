// A small run of the fuzzing of custom resources; `npm run fuzz -- --seed S --requests 0 --manifests N` makes larger ones.

import { beforeAll, expect, it } from "vitest";
import { fuzzManifests } from "../fuzz/custom-resources.ts";
import type { Fleet } from "../support/fleet.ts";
import { sharedFleet } from "../support/shared-parts.ts";

const seed = Number.parseInt(process.env.JSONPLANE_TEST_SEED ?? "", 10) || 20_261_121;

let fleet: Fleet;

beforeAll(async () => {
  fleet = await sharedFleet();
});

it("200 random changes to custom resources and their Secrets: the cluster takes what jsonplane validate takes, every object is told what became of it, what is Ready is served, the operator goes on", async () => {
  const report = await fuzzManifests(fleet, { seed, steps: 200 });
  expect(report.faults, `seed ${seed}`).toEqual([]);
  expect(report.steps).toBeGreaterThanOrEqual(200);
  expect(report.reasons["Ready"]).toBeGreaterThan(10);
  expect(report.served).toBeGreaterThan(5);
});
