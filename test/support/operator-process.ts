// An operator as a process of its own, started the way a cluster starts it: `jsonplane operator`.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";
import { send } from "./http-client.ts";

export interface OperatorProcess {
  readonly adminUrl: string;
  readonly pid: number;
  /** Standard error so far: one JSON line per entry. */
  log(): string;
  /** Whether it holds the Lease, by its metrics. */
  leads(): Promise<boolean>;
  /** The text of /metrics. */
  metrics(): Promise<string>;
  signal(signal: NodeJS.Signals): void;
  /** Resolves with the exit code once it ends by itself; null when a signal ended it. */
  ended(): Promise<number | null>;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface OperatorProcessOptions {
  readonly kubeconfig: string;
  readonly redis: string;
  readonly publicUrl?: string;
  /** Further flags, such as `["--watch-namespaces", "shop"]`. */
  readonly args?: readonly string[];
  /** Another program than the command line, with the same arguments. */
  readonly program?: string;
  /** Waits until its caches are complete, by default. */
  readonly untilReady?: boolean;
}

const main = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

export async function startOperatorProcess(options: OperatorProcessOptions): Promise<OperatorProcess> {
  const adminPort = await freePort();
  const { kubeconfig, redis, publicUrl = "http://127.0.0.1:8080", args = [], program = main } = options;
  const reach = ["--kubeconfig", kubeconfig, "--redis", redis, "--public-url", publicUrl];
  const ports = ["--host", "127.0.0.1", "--admin-port", String(adminPort)];
  const child = spawn(process.execPath, [program, "operator", ...reach, ...ports, ...args], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let text = "";
  child.stderr.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  const gone = once(child, "exit").then(() => child.exitCode);
  const killAtExit = () => void child.kill("SIGKILL");
  process.once("exit", killAtExit);
  const adminUrl = `http://127.0.0.1:${adminPort}`;
  const metrics = async (): Promise<string> => (await send(adminUrl, "/metrics")).text;
  if (options.untilReady ?? true) {
    await eventually(
      async () => {
        if (hasEnded(child)) throw new Error(`The operator ended:\n${text}`);
        if ((await send(adminUrl, "/readyz")).status !== 200) throw new Error(`The operator is not ready:\n${text}`);
      },
      { withinMs: 30_000 },
    );
  }
  return {
    adminUrl,
    pid: child.pid ?? 0,
    log: () => text,
    leads: async () => /^leader_election_master_status\{.*\} 1$/m.test(await metrics()),
    metrics,
    signal: (signal) => void child.kill(signal),
    ended: () => gone,
    async stop(signal = "SIGTERM") {
      process.off("exit", killAtExit);
      if (!hasEnded(child)) child.kill(signal);
      return await gone;
    },
  };
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}
