// Vitest set-up of the projects with properties (fast-check): the seed of this run, and the number
// of cases of its tier.

import { configureGlobal } from "fast-check";
import { countForTier, testSeed } from "./test-tier.ts";

/** fast-check's own default on every commit. */
const defaultRuns = 100;

configureGlobal({ seed: testSeed(), numRuns: countForTier(defaultRuns) });
