// A short part of the chaos suite with a fixed seed, so that it can't rot; `npm run chaos` plays all of it. And the suite itself
// against a Redis that breaks its promise: it has to notice.

import { expect, it } from "vitest";
import type { ScenarioOutcome } from "../chaos/outcome.ts";
import { oneServer } from "../chaos/places.ts";
import { runScenario } from "../chaos/run-scenario.ts";
import { redisKillAlways } from "../chaos/scenarios/kills.ts";
import { scenarios } from "../chaos/scenarios.ts";

const seed = 20_261_121;
const seconds = 4;
/** One of each kind of trouble that is quick to set up and over; the rest is `npm run chaos`. */
const played = [
  "replica-kill",
  "replica-kill-unheard",
  "redis-kill-always",
  "slot-migration",
  "connection-resets",
  "readonly",
  "signing-key-rotation",
  "config-age",
];

for (const name of played) {
  it(`holds through ${name}, seed ${seed}`, async () => {
    const scenario = scenarios.find((each) => each.name === name);
    if (scenario === undefined) throw new Error(`No scenario is called ${name}`);
    const outcome = await runScenario(scenario, { seed, seconds });
    expect(outcome.violations).toEqual([]);
    expectWorked(outcome);
    if (name === "replica-kill-unheard") expect(outcome.repeats.done).toBeGreaterThan(0);
  });
}

it("is refused by a Redis that is killed and forgets what it acknowledged", async () => {
  const forgetful = { ...redisKillAlways, plan: { redis: oneServer("none") } };
  const { violations } = await runScenario(forgetful, { seed, seconds: 2 });
  expect(violations.join("\n")).toMatch(/after \d+ was acknowledged|lacks \d+, which was acknowledged|was skipped/);
});

/** A run in which nothing happened shows nothing. */
function expectWorked({ faults, writes, reads, repeats, recoveredMs }: ScenarioOutcome): void {
  expect(faults).toBeGreaterThan(0);
  expect(writes.done).toBeGreaterThan(50);
  expect(reads).toBeGreaterThan(50);
  expect(repeats.acknowledged).toBeGreaterThan(20);
  expect(recoveredMs).toBeGreaterThan(0);
}
