// `npm run chaos`: plays every scenario, or those that `--only a,b` names, with `--seed N` (1 by default) for `--seconds S` each, and
// prints a table. The exit code is 1 when something happened that must not. `-- --write` puts the table into docs/chaos.md.

import { writeFile } from "node:fs/promises";
import { bringPartsOf } from "../../tools/parts/groups.ts";
import { readArguments, WrongArguments, wholeNumber } from "../../tools/script-arguments.ts";
import { startScript } from "../../tools/start-script.ts";
import { setup } from "../support/redis/find-redis.ts";
import { NotPlayable } from "./not-playable.ts";
import type { ScenarioOutcome } from "./outcome.ts";
import { type LeftOut, page, progress } from "./report.ts";
import { runScenario } from "./run-scenario.ts";
import { scenarios } from "./scenarios.ts";

startScript("npm run chaos");
const { values } = readArguments({
  only: { type: "string" },
  seed: { type: "string", default: "1" },
  seconds: { type: "string" },
  write: { type: "boolean", default: false },
});
const wanted = values.only?.split(",");
const unknown = wanted?.filter((name) => !scenarios.some((scenario) => scenario.name === name)) ?? [];
const seed = wholeNumber("--seed", values.seed);
const seconds = values.seconds === undefined ? undefined : wholeNumber("--seconds", values.seconds, 1);
if (unknown.length > 0) {
  throw new WrongArguments(
    `No scenario is called ${unknown.join(", ")}; there are ${scenarios.map(({ name }) => name).join(", ")}`,
  );
}
if (values.write && wanted !== undefined) throw new WrongArguments("--write is for all scenarios: leave --only out");

await bringPartsOf("chaos");
await setup();
const outcomes: ScenarioOutcome[] = [];
const left: LeftOut[] = [];
for (const scenario of scenarios.filter(({ name }) => wanted?.includes(name) ?? true)) {
  process.stdout.write(`${scenario.name}: ${scenario.does}; seed ${seed}\n`);
  try {
    const outcome = await runScenario(scenario, { seed, seconds: seconds ?? scenario.seconds });
    outcomes.push(outcome);
    process.stdout.write(progress(outcome));
  } catch (error) {
    if (!(error instanceof NotPlayable)) throw error;
    left.push({ scenario, why: error.message });
    process.stdout.write(`  not played: ${error.message}\n`);
  }
}
if (values.write) await writeFile(new URL("../../docs/chaos.md", import.meta.url), page(outcomes, left));
if (outcomes.some(({ violations }) => violations.length > 0)) process.exitCode = 1;
