// A data-plane replica as a process of its own, started the way a cluster starts it: `jsonplane dataplane`.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";
import { type Reply, type SentRequest, send } from "./http-client.ts";

export interface Replica {
  readonly origin: string;
  readonly adminUrl: string;
  /** Standard error so far. */
  log(): string;
  send(path: string, sent?: SentRequest): Promise<Reply>;
  /** Status of /readyz. */
  ready(): Promise<number>;
  /** Resolves with the exit code once it ends by itself. */
  ended(): Promise<number | null>;
  /** Resolves with the exit code, null when the signal ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

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
  /** Waits until it is ready, by default. */
  readonly untilReady?: boolean;
}

const main = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

export async function startReplica(options: ReplicaOptions): Promise<Replica> {
  const { port = await freePort(), adminPort = await freePort() } = options;
  const args = ["--redis", options.redis, "--keyring", options.keyring, "--replica", options.name];
  const ports = ["--host", "127.0.0.1", "--port", String(port), "--admin-port", String(adminPort)];
  const program = [...(options.nodeArgs ?? []), main, "dataplane"];
  const child = spawn(process.execPath, [...program, ...args, ...ports, ...(options.args ?? [])], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let text = "";
  child.stderr.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  const gone = once(child, "exit").then(() => child.exitCode);
  const killAtExit = () => void child.kill("SIGKILL");
  process.once("exit", killAtExit);
  const origin = `http://127.0.0.1:${port}`;
  const adminUrl = `http://127.0.0.1:${adminPort}`;
  const ready = async () => (await send(adminUrl, "/readyz")).status;
  if (options.untilReady ?? true) {
    await eventually(
      async () => {
        if (hasEnded(child)) throw new Error(`The replica ended:\n${text}`);
        if ((await ready()) !== 200) throw new Error("The replica is not ready");
      },
      { withinMs: 120_000 },
    );
  }
  return {
    origin,
    adminUrl,
    log: () => text,
    send: (path, sent) => send(origin, path, sent),
    ready,
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
