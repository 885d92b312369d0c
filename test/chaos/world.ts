// What a scenario breaks: real Redis JSON, replicas of the data plane as processes of their own,
// each behind a TCP proxy where the scenario wants one, and the project's configuration.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Keyring, newKeyringText, parseKeyring } from "../../core/config/keyring.ts";
import { apikey, changed, withoutKey } from "../support/http/projects.ts";
import type { Tenant } from "../support/kubernetes/declared.ts";
import { type MaintainedConfig, maintainConfig } from "./maintained-config.ts";
import { limitedParts, openParts, shopParts, victim, withLogs } from "./project.ts";
import type { OpenRedis, RedisDeployment } from "./redis-deployments.ts";
import { openReplica, type WorldReplica } from "./world-replica.ts";

export interface WorldPlan {
  readonly redis: OpenRedis;
  /** A real API server and operator in place of the publisher that plays it. */
  readonly fleet?: boolean;
  /** Two by default. */
  readonly replicas?: number;
  /** The shop logs its changes, about so many of each, and subscribers follow them. */
  readonly follows?: { readonly maxEntries: number };
  /** Between each replica and Redis; for one server only. */
  readonly proxies?: boolean;
  /** Replicas whose wall clock the scenario moves. */
  readonly shiftedClocks?: boolean;
  /** A project with rates next to the shop, and who ask it for more than it gives. */
  readonly limits?: boolean;
  /**
   * What becomes of the end of a session while Redis refuses writes; absent = it takes them, or is
   * away.
   */
  readonly ends?: EndsOfSessions;
  /** Who log in and out all the time; one by default. */
  readonly sessionClients?: number;
}

/**
 * `fail closed`: the replica that was asked refuses its tokens from then on, all others as soon as
 * Redis takes writes.
 */
export type EndsOfSessions = "go on" | "fail closed";

export interface World {
  readonly redis: RedisDeployment;
  readonly replicas: readonly WorldReplica[];
  readonly config: MaintainedConfig;
  /** Of a fleet: what is declared, and who reads it. */
  readonly fleet?: FleetControl;
  /** Authorization headers. */
  readonly credentials: { readonly worker: string; readonly victim: string };
  readonly keyring: Keyring;
  /** Withdraws the victim's key, and waits until that is published. */
  withdrawVictim(): Promise<void>;
  /** Writes another ring where all replicas read theirs. */
  mountKeyring(text: string): Promise<void>;
  stop(): Promise<void>;
}

export interface FleetControl {
  readonly tenant: Tenant;
  killOperator(): Promise<void>;
  startOperator(): Promise<void>;
  /** One more, which stands by. */
  addStandby(): Promise<Standby>;
  /** kill -9 of the one that leads. */
  killLeader(): Promise<void>;
  /** Declares an ApiKey, and waits until it is served. Returns its Authorization header. */
  makeKey(name: string): Promise<string>;
  /** Deletes an ApiKey, and waits until it is no longer published. */
  withdrawKey(name: string): Promise<void>;
}

export interface Standby {
  /**
   * Its connections to the API server pass nothing any more, and nobody is notified; new ones work.
   */
  goDeaf(): void;
  /** Whether it leads, and has published everything. */
  hasTakenOver(): Promise<boolean>;
}

/** What replicas are to serve, before they start. */
export interface Served {
  readonly redis: RedisDeployment;
  readonly ringFile: string;
  /** Called once the replicas run. */
  ready(): Promise<Omit<World, "redis" | "replicas" | "keyring" | "stop">>;
}

/** Run in the reverse order at the end. */
export type Closers = (() => Promise<unknown>)[];

export type Serve = (plan: WorldPlan, dir: string, closers: Closers) => Promise<Served>;

export async function openWorld(plan: WorldPlan, serve: Serve): Promise<World> {
  const dir = await mkdtemp(join(tmpdir(), "jsonplane-chaos-"));
  const closers: Closers = [() => rm(dir, { recursive: true, force: true })];
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const { redis, ringFile, ready } = await serve(plan, dir, closers);
    const replicas: WorldReplica[] = [];
    closers.push(() => Promise.all(replicas.map((replica) => replica.kill())));
    while (replicas.length < (plan.replicas ?? 2)) {
      const name = `r${replicas.length + 1}`;
      replicas.push(await openReplica({ name, dir, ringFile, plan, redis, closers }));
    }
    const keyring = parseKeyring(await readFile(ringFile, "utf8"));
    return { ...(await ready()), redis, replicas, keyring, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Without an API server: the suite runs the operator's publisher itself. */
export async function publishShop(plan: WorldPlan, dir: string, closers: Closers): Promise<Served> {
  const redis = await plan.redis();
  closers.push(() => redis.stop());
  const ringFile = join(dir, "keyring.json");
  const mountKeyring = (text: string): Promise<void> => writeFile(ringFile, text, { mode: 0o600 });
  const ringText = newKeyringText();
  await mountKeyring(ringText);
  const limited = plan.limits ? [limitedParts(), openParts()] : [];
  const shop = plan.follows ? changed(shopParts(), withLogs(plan.follows.maxEntries)) : shopParts();
  const config = await maintainConfig(redis.url, parseKeyring(ringText), shop, limited);
  closers.push(() => config.stop());
  const credentials = { worker: apikey("worker"), victim: apikey(victim) };
  const withdrawVictim = async (): Promise<void> => void (await config.change(withoutKey(victim)));
  return { redis, ringFile, ready: async () => ({ config, credentials, withdrawVictim, mountKeyring }) };
}
