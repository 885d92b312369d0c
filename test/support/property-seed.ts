// Vitest set-up of the projects with properties (fast-check): the same cases on every run, so that a gate fails by a change and
// not by chance. JSONPLANE_TEST_SEED=<integer> tries others; what one of them finds becomes a test of its own.

import { configureGlobal } from "fast-check";

const usual = 20_261_121;

configureGlobal({ seed: Number.parseInt(process.env.JSONPLANE_TEST_SEED ?? "", 10) || usual });
