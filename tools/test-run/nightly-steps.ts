// What the nightly tier runs after the tests, one step after the other. A failed step doesn't stop
// the next.

import { spawn } from "node:child_process";
import { once } from "node:events";

export interface NightlyStep {
  readonly name: string;
  readonly passed: boolean;
}

interface StepCommand {
  readonly name: string;
  /** Of node. */
  readonly args: readonly string[];
}

function commands(seed: string): readonly StepCommand[] {
  return [
    { name: "mutations", args: ["test/mutations/run.ts"] },
    { name: "chaos", args: ["test/chaos/run.ts", "--seed", seed] },
    { name: "soak", args: ["test/soak/run.ts", "--seed", seed, "--minutes", "10"] },
    { name: "neighbours of a costly project", args: ["test/bench/run.ts", "neighbours"] },
    { name: "neighbours of a hostile namespace", args: ["test/bench/run.ts", "operator", "--hostile"] },
    { name: "fuzz", args: ["test/fuzz/run.ts", "--seed", seed, "--requests", "20000", "--manifests", "500"] },
    { name: "fuzz openapi", args: ["test/fuzz/run.ts", "openapi", "--seed", seed, "--examples", "50"] },
    { name: "bare machine", args: ["test/bare-machine/run.ts"] },
  ];
}

export async function runNightlySteps(root: string, seed: string): Promise<readonly NightlyStep[]> {
  const steps: NightlyStep[] = [];
  for (const { name, args } of commands(seed)) {
    console.log(`\nNightly: ${name} (node ${args.join(" ")})`);
    const started = performance.now();
    const child = spawn(process.execPath, args, { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
    const [code] = await once(child, "close");
    const minutes = ((performance.now() - started) / 60_000).toFixed(1);
    console.log(`${code === 0 ? "ok    " : "FAILED"} ${name} (${minutes} min)`);
    steps.push({ name, passed: code === 0 });
  }
  return steps;
}
