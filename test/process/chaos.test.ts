// A short part of the chaos suite, so that it can't rot; `npm run chaos` plays all of it, and
// checks it by the clock as well. And the suite itself against a Redis that breaks its promise: it
// has to notice.

import { expect, it } from "vitest";
import { isTelling } from "../chaos/outcome.ts";
import { oneServer } from "../chaos/redis-deployments.ts";
import { runScenario } from "../chaos/run-scenario.ts";
import { redisKillAlways } from "../chaos/scenarios/kills.ts";
import { scenarios } from "../chaos/scenarios.ts";
import { testSeed } from "../support/time/test-tier.ts";

const seed = testSeed();
/** Nothing is checked by how quick a busy machine is. */
const slack = 10;
/** One for each party that can be gone: a replica, Redis, and what is between them. */
const played = ["replica-kill-unheard", "redis-kill-always", "connection-resets"];

it.each(played)("the service holds through %s", async (name) => {
  const scenario = scenarios.find((each) => each.name === name);
  if (scenario === undefined) throw new Error(`No scenario is called ${name}`);
  const outcome = await runScenario(scenario, { seed, seconds: 3, slack });
  expect(outcome.violations, `seed ${seed}`).toEqual([]);
  expect(outcome.faults).toBeGreaterThan(0);
  expect(outcome).toSatisfy(isTelling);
  expect(outcome.recoveredMs).toBeGreaterThan(0);
  expect(outcome.followed.told).toBeGreaterThan(0);
  if (name === "replica-kill-unheard") expect(outcome.repeats.done).toBeGreaterThan(0);
});

it("a Redis that is killed and forgets what it acknowledged is refused", async () => {
  const forgetful = { ...redisKillAlways, plan: { redis: oneServer("none") } };
  const { violations } = await runScenario(forgetful, { seed, seconds: 2, slack });
  expect(violations.join("\n")).toMatch(/after \d+ was acknowledged|lacks \d+, which was acknowledged|was skipped/);
});
