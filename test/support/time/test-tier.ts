// How much a test tries. On every commit: few cases, always the same ones, so that a gate fails by
// a change and not by chance. In the nightly tier (JSONPLANE_TEST_TIER=nightly): many.
// JSONPLANE_TEST_SEED=<integer> tries other cases in either; the nightly tier draws a seed and
// prints it. What another seed finds becomes a test of its own.

export type TestTier = "commit" | "nightly";

/** Any number does; this one is the day on which it was chosen. */
const defaultSeed = 20_261_121;

export const testTier: TestTier = process.env.JSONPLANE_TEST_TIER === "nightly" ? "nightly" : "commit";

/** The count for this run's tier; ten times as many at night by default. */
export function countForTier(perCommit: number, nightly: number = perCommit * 10): number {
  return testTier === "nightly" ? nightly : perCommit;
}

/** The seed of this run. */
export function testSeed(): number {
  return Number.parseInt(process.env.JSONPLANE_TEST_SEED ?? "", 10) || defaultSeed;
}
