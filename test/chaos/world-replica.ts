// One replica of a scenario's world: a process that can be killed and started again on its ports,
// behind a TCP proxy and with a wall clock of its own where the scenario wants them.

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Replica, startReplica } from "../support/fleet/replica.ts";
import { freePort } from "../support/process/free-port.ts";
import { startTcpProxy, type TcpProxy } from "../support/process/tcp-proxy.ts";
import type { Target } from "./ask.ts";
import type { RedisDeployment } from "./redis-deployments.ts";

export interface WorldReplica extends Target {
  /** Status of /readyz; undefined when nobody answers. */
  ready(): Promise<number | undefined>;
  log(): string;
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** It stands still, with its connections open, until `resume`. */
  pause(): void;
  resume(): void;
  /** Starts it again on the same ports. */
  start(): Promise<void>;
  /** Moves its wall clock away from the machine's. */
  shiftClock(milliseconds: number): Promise<void>;
  readonly proxy: TcpProxy | undefined;
}

export interface ReplicaPlan {
  readonly name: string;
  /** Where it may keep files. */
  readonly dir: string;
  readonly ringFile: string;
  readonly plan: { readonly proxies?: boolean; readonly shiftedClocks?: boolean };
  readonly redis: RedisDeployment;
  readonly closers: (() => Promise<unknown>)[];
}

export async function openReplica({ name, dir, ringFile, plan, redis, closers }: ReplicaPlan): Promise<WorldReplica> {
  const proxy = plan.proxies ? await startTcpProxy(redis.server.port) : undefined;
  if (proxy !== undefined) closers.push(() => proxy.stop());
  const url = proxy === undefined ? redis.url : `redis://127.0.0.1:${proxy.port}`;
  const [port, adminPort] = [await freePort(), await freePort()];
  const clockFile = join(dir, `${name}.clock`);
  const shifted = new URL("shifted-date.ts", import.meta.url);
  shifted.searchParams.set("file", clockFile);
  const nodeArgs = plan.shiftedClocks ? ["--import", shifted.href] : [];
  const args = ["--log-level", "warn"];
  const launch = (): Promise<Replica> =>
    startReplica({ redis: url, keyring: ringFile, name, port, adminPort, args, nodeArgs });
  const shiftClock = (milliseconds: number): Promise<void> => writeFile(clockFile, String(milliseconds));
  if (plan.shiftedClocks) await shiftClock(0);
  let process = await launch();
  return {
    name,
    origin: process.origin,
    proxy,
    ready: () => process.ready().catch(() => undefined),
    log: () => process.log(),
    async kill(signal = "SIGKILL") {
      await process.stop(signal);
    },
    pause: () => process.signal("SIGSTOP"),
    resume: () => process.signal("SIGCONT"),
    async start() {
      process = await launch();
    },
    shiftClock,
  };
}

/** Of a scenario that wants proxies. */
export function proxyOf({ proxy, name }: WorldReplica): TcpProxy {
  if (proxy === undefined) throw new Error(`${name} has no proxy`);
  return proxy;
}
