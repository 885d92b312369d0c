// What a scenario breaks: real Redis JSON, replicas of the data plane as processes of their own, each behind a TCP proxy where the
// scenario wants one, and the project's configuration.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Keyring, newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import { freePort } from "../support/free-port.ts";
import { type Replica, startReplica } from "../support/replica.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import type { Target } from "./ask.ts";
import { type ConfigKeeper, keepConfig } from "./config-keeper.ts";
import type { OpenRedis, RedisPlace } from "./places.ts";
import { shopParts } from "./project.ts";

export interface WorldPlan {
  readonly redis: OpenRedis;
  /** Two by default. */
  readonly replicas?: number;
  /** Between each replica and Redis; for one server only. */
  readonly proxies?: boolean;
  /** Replicas whose wall clock the scenario moves. */
  readonly shiftedClocks?: boolean;
  /** Who log in and out all the time; one by default. */
  readonly sessionClients?: number;
}

export interface WorldReplica extends Target {
  /** Status of /readyz; undefined when nobody answers. */
  ready(): Promise<number | undefined>;
  log(): string;
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it anew on the same ports. */
  start(): Promise<void>;
  /** Moves its wall clock away from the machine's. */
  shiftClock(milliseconds: number): Promise<void>;
  readonly proxy: TcpProxy | undefined;
}

export interface World {
  readonly redis: RedisPlace;
  readonly replicas: readonly WorldReplica[];
  readonly config: ConfigKeeper;
  readonly keyring: Keyring;
  /** Writes another ring where all replicas read theirs. */
  mountKeyring(text: string): Promise<void>;
  /** Another replica, which waits until it is ready. */
  addReplica(): Promise<WorldReplica>;
  stop(): Promise<void>;
}

export async function openWorld(plan: WorldPlan): Promise<World> {
  const dir = await mkdtemp(join(tmpdir(), "jsonplane-chaos-"));
  const closers: (() => Promise<unknown>)[] = [() => rm(dir, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const redis = await plan.redis();
    closers.push(() => redis.stop());
    const ringText = newKeyringText();
    const ringFile = join(dir, "keyring.json");
    await writeFile(ringFile, ringText, { mode: 0o600 });
    const keyring = parseKeyring(ringText);
    const config = await keepConfig(redis.url, keyring, shopParts());
    closers.push(() => config.stop());
    const replicas: WorldReplica[] = [];
    closers.push(() => Promise.all(replicas.map((replica) => replica.kill())));
    const addReplica = async (): Promise<WorldReplica> => {
      const replica = await openReplica({ name: `r${replicas.length + 1}`, dir, ringFile, plan, redis, closers });
      replicas.push(replica);
      return replica;
    };
    for (let count = 0; count < (plan.replicas ?? 2); count += 1) await addReplica();
    const mountKeyring = (text: string): Promise<void> => writeFile(ringFile, text, { mode: 0o600 });
    return { redis, replicas, config, keyring, mountKeyring, addReplica, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface ReplicaPlan {
  readonly name: string;
  readonly dir: string;
  readonly ringFile: string;
  readonly plan: WorldPlan;
  readonly redis: RedisPlace;
  readonly closers: (() => Promise<unknown>)[];
}

async function openReplica({ name, dir, ringFile, plan, redis, closers }: ReplicaPlan): Promise<WorldReplica> {
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
    async start() {
      process = await launch();
    },
    shiftClock,
  };
}
