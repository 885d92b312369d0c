// A data-plane replica as a process of its own, started the way a cluster starts it: `jsonplane
// dataplane`.

import { type Reply, type SentRequest, send } from "../http/http-client.ts";
import { freePort } from "../process/free-port.ts";
import { notingStart } from "../process/part-starts.ts";
import { type ProgramProcess, programFile, type RunningProgram, startProgram, untilReady } from "./program-process.ts";

export interface RunningReplica extends RunningProgram {
  readonly origin: string;
  send(path: string, sent?: SentRequest): Promise<Reply>;
}

export interface Replica extends RunningReplica, ProgramProcess {}

export interface ReplicaOptions {
  readonly redis: string;
  readonly keyring: string;
  readonly name: string;
  /** Ports of the API and of probes; free ones by default. */
  readonly port?: number;
  readonly adminPort?: number;
  /** Further flags, such as `["--log-level", "warn"]`. */
  readonly args?: readonly string[];
  /** Flags of Node itself, before the program. */
  readonly nodeArgs?: readonly string[];
  /** What is run, with its first arguments; `jsonplane dataplane` by default. */
  readonly program?: readonly string[];
  /** Waits until it is ready, by default. */
  readonly untilReady?: boolean;
  /** File for standard error. */
  readonly logFile?: string;
  /** Variables in addition to those of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

export function startReplica(options: ReplicaOptions): Promise<Replica> {
  return notingStart("replica", () => start(options));
}

async function start(options: ReplicaOptions): Promise<Replica> {
  const { nodeArgs = [], program = [programFile, "dataplane"] } = options;
  const { port = await freePort(), adminPort = await freePort() } = options;
  const args = ["--redis", options.redis, "--keyring", options.keyring, "--replica", options.name];
  const ports = ["--host", "127.0.0.1", "--port", String(port), "--admin-port", String(adminPort)];
  const started = await startProgram({
    args: [...nodeArgs, ...program, ...args, ...ports, ...(options.args ?? [])],
    adminUrl: `http://127.0.0.1:${adminPort}`,
    logFile: options.logFile,
    env: options.env,
  });
  if (options.untilReady ?? true) await untilReady(started);
  return { ...started, ...runningReplica(started, `http://127.0.0.1:${port}`) };
}

/** The replica that answers at this origin, whoever started it. */
export function runningReplica(program: RunningProgram, origin: string): RunningReplica {
  return { ...program, origin, send: (path, sent) => send(origin, path, sent) };
}
