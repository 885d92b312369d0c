// An operator as a process of its own, started the way a cluster starts it: `jsonplane operator`.

import { freePort } from "../process/free-port.ts";
import { notingStart } from "../process/part-starts.ts";
import type { Pod } from "./pod.ts";
import { type ProgramProcess, programFile, type RunningProgram, startProgram, untilReady } from "./program-process.ts";
import { quickClient } from "./quick-client.ts";

export interface RunningOperator extends RunningProgram {
  /** Whether it holds the Lease, by its metrics. */
  leads(): Promise<boolean>;
}

export interface OperatorProcess extends RunningOperator, ProgramProcess {}

export interface OperatorProcessOptions {
  /** Not needed in a pod. */
  readonly kubeconfig?: string;
  readonly pod?: Pod;
  readonly redis: string;
  readonly publicUrl?: string;
  /** Further flags, such as `["--watch-namespaces", "shop"]`. */
  readonly args?: readonly string[];
  /** Flags of Node itself, such as `--inspect`. */
  readonly nodeFlags?: readonly string[];
  /** Another program than the command line, with the same arguments. */
  readonly program?: string;
  /** Variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Waits until its caches are complete, by default. */
  readonly untilReady?: boolean;
  /** File for standard error. */
  readonly logFile?: string;
}

export function startOperatorProcess(options: OperatorProcessOptions): Promise<OperatorProcess> {
  return notingStart("operator", () => start(options));
}

async function start(options: OperatorProcessOptions): Promise<OperatorProcess> {
  const adminPort = await freePort();
  const { kubeconfig, pod, redis, publicUrl = "http://127.0.0.1:8080", args = [], nodeFlags = [] } = options;
  const quick = kubeconfig === undefined ? [] : ["--import", await quickClient()];
  const apiServer = kubeconfig === undefined ? [] : ["--kubeconfig", kubeconfig];
  const connection = [...apiServer, "--redis", redis, "--public-url", publicUrl];
  const ports = ["--host", "127.0.0.1", "--admin-port", String(adminPort)];
  const program = await startProgram({
    args: [...nodeFlags, ...quick, options.program ?? programFile, "operator", ...connection, ...ports, ...args],
    adminUrl: `http://127.0.0.1:${adminPort}`,
    logFile: options.logFile,
    within: pod?.command,
    env: { ...options.env, ...pod?.env },
  });
  if (options.untilReady ?? true) await untilReady(program);
  return { ...program, ...runningOperator(program) };
}

/** The operator that answers there, whoever started it. */
export function runningOperator(program: RunningProgram): RunningOperator {
  return {
    ...program,
    leads: async () => /^leader_election_master_status\{.*\} 1$/m.test(await program.metrics()),
  };
}
