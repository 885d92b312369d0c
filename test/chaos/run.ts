// `npm run chaos`: plays every scenario, or those that `--only a,b` names, with `--seed N` (1 by
// default) for `--seconds S` each. Exits 1 when something happened that must not.

import { bringPartsOf } from "../../tools/parts/groups.ts";
import { readArguments, WrongArguments, wholeNumber } from "../../tools/script-arguments.ts";
import { startScript } from "../../tools/start-script.ts";
import { setup } from "../support/redis/find-redis.ts";
import type { Followed, ScenarioOutcome } from "./outcome.ts";
import { runScenario } from "./run-scenario.ts";
import { NotPlayable } from "./scenario.ts";
import { scenarios } from "./scenarios.ts";

const shown = 20;

startScript("npm run chaos");
const { values } = readArguments({
  only: { type: "string" },
  seed: { type: "string", default: "1" },
  seconds: { type: "string" },
});
const names = scenarios.map(({ name }) => name);
const wanted = values.only?.split(",") ?? names;
const unknown = wanted.filter((name) => !names.includes(name));
const seed = wholeNumber("--seed", values.seed);
const seconds = values.seconds === undefined ? undefined : wholeNumber("--seconds", values.seconds, 1);
if (unknown.length > 0) {
  throw new WrongArguments(`No scenario is called ${unknown.join(", ")}; there are ${names.join(", ")}`);
}

await bringPartsOf("chaos");
await setup();
for (const scenario of scenarios.filter(({ name }) => wanted.includes(name))) {
  console.log(`${scenario.name}: ${scenario.does}; seed ${seed}`);
  try {
    const outcome = await runScenario(scenario, { seed, seconds: seconds ?? scenario.seconds });
    for (const line of linesOf(outcome)) console.log(`  ${line}`);
    if (outcome.violations.length > 0) process.exitCode = 1;
  } catch (error) {
    if (!(error instanceof NotPlayable)) throw error;
    console.log(`  not played: ${error.message}`);
  }
}

function linesOf(outcome: ScenarioOutcome): readonly string[] {
  const { followed, writes, reads, repeats, faults, lost, late, violations, errors } = outcome;
  return [
    `${faults} faults; writes: ${writes.done} acknowledged, ${writes.refused} refused, ${writes.unknown} of unknown outcome; ${reads} reads`,
    `repeated by Idempotency-Key: ${repeats.unanswered} without an answer, of which ${repeats.done} had taken place; ${repeats.acknowledged} acknowledged`,
    `lost as allowed: ${lost}; late: ${late}; longest without a write ${ms(outcome.maxGapMs)}; worked again after ${ms(outcome.recoveredMs)}`,
    ...(followed.told > 0 ? [`subscribers: ${told(followed)}`] : []),
    `slowest answer ${ms(outcome.slowestAnswerMs)}; revoked within ${ms(outcome.revokedMs)}`,
    ...violations.slice(0, shown).map((violation) => `VIOLATED ${violation}`),
    ...(violations.length > shown ? [`… and ${violations.length - shown} more`] : []),
    ...(violations.length > 0 ? errors.slice(0, shown).map((line) => `logged ${line}`) : ["held"]),
  ];
}

function told({ told, connections, resets }: Followed): string {
  const reasons = Object.entries(resets).map(([reason, times]) => `${reason} ${times}`);
  return `told ${told} times over ${connections} connections; reset: ${reasons.join(", ") || "never"}`;
}

function ms(milliseconds: number): string {
  if (Number.isNaN(milliseconds)) return "never";
  return milliseconds < 1_000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1_000).toFixed(1)} s`;
}
