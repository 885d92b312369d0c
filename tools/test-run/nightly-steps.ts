// What the nightly tier runs after the tests, one step after the other. A failed step doesn't stop
// the next.

import { type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";

export interface NightlyStep {
  readonly name: string;
  readonly passed: boolean;
}

interface StepCommand {
  readonly name: string;
  /** Of node. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/** The parts step has named the program. */
const onValkey = (): Readonly<Record<string, string | undefined>> => ({
  JSONPLANE_REDIS_SERVER: process.env.JSONPLANE_VALKEY_SERVER,
});
/** One for each party that can be gone: a replica, the server, and what is between them. */
const shortChaos = "replica-kill-unheard,redis-kill-always,connection-resets";

function commands(seed: string): readonly StepCommand[] {
  return [
    { name: "mutations", args: ["test/mutations/run.ts"] },
    { name: "chaos", args: ["test/chaos/run.ts", "--seed", seed] },
    {
      name: "chaos on Valkey",
      args: ["test/chaos/run.ts", "--seed", seed, "--only", shortChaos],
      env: onValkey(),
    },
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
  for (const { name, args, env } of commands(seed)) {
    console.log(`\nNightly: ${name} (node ${args.join(" ")})`);
    const started = performance.now();
    const options: SpawnOptions = {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: ["ignore", "inherit", "inherit"],
    };
    const child = spawn(process.execPath, args, options);
    const [code] = await once(child, "close");
    const minutes = ((performance.now() - started) / 60_000).toFixed(1);
    console.log(`${code === 0 ? "ok    " : "FAILED"} ${name} (${minutes} min)`);
    steps.push({ name, passed: code === 0 });
  }
  return steps;
}
