// What the live replicas say of quotas. Of several replicas the one that knows of more is right, or
// was a moment ago. Figures of a project that can't be read count as absent, and are named; other
// projects and replicas are not affected.

import { usageKey } from "../../core/config/config-keys.ts";
import { type QuotaKind, type QuotaUse, type QuotaUses, quotaKinds } from "../../core/config/quota-uses.ts";
import { isObject } from "../../core/json/json-value.ts";
import { RedisFault } from "../../core/redis/failure.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { fieldsOf } from "../../core/redis/reply.ts";

/** From this part of a quota on it is nearly full, and below the second one no more. */
const nearlyFullFrom = 0.8;
const nearlyFullUntil = 0.75;

/** Projects of which a replica has written figures that can't be read. */
export interface UnreadableUsage {
  readonly replica: string;
  readonly projects: readonly string[];
  /** Why nothing of the replica can be read, as where its key is of another type. */
  readonly error?: RedisFault;
}

export interface QuotaAggregator {
  /**
   * Takes down what the replicas say now; answers with what of it can't be read. Rejects where
   * Redis can't be asked.
   */
  read(replicas: readonly string[]): Promise<readonly UnreadableUsage[]>;
  /** By `<namespace>/<name>`. */
  quotaUsages(): ReadonlyMap<string, QuotaUses>;
  /**
   * What statuses report at once, by `<namespace>/<name>`, as a text: the limits, and which quotas
   * are nearly full. Changes at most once in `restMs` while the limits stay the same, so that an
   * API server does not feel the writes of clients.
   */
  quotaStates(): ReadonlyMap<string, string>;
}

interface QuotaState {
  readonly limits: string;
  readonly nearlyFull: readonly QuotaKind[];
  readonly since: number;
}

/** `now` counts milliseconds and never goes back. */
export function createQuotaAggregator(redisClient: RedisClient, now: () => number, restMs = 60_000): QuotaAggregator {
  let uses: ReadonlyMap<string, QuotaUses> = new Map();
  let states: ReadonlyMap<string, QuotaState> = new Map();
  let texts: ReadonlyMap<string, string> = new Map();

  const next = (name: string, found: QuotaUses): QuotaState => {
    const former = states.get(name);
    const state = { limits: limitsIn(found), nearlyFull: nearlyFullOf(found, former?.nearlyFull), since: now() };
    if (former === undefined || former.limits !== state.limits) return state;
    const hasTurned = former.nearlyFull.join() !== state.nearlyFull.join();
    return hasTurned && state.since - former.since >= restMs ? state : former;
  };

  return {
    async read(replicas) {
      const reports = await Promise.all(replicas.map((replica) => reportOf(redisClient, replica)));
      const found = new Map<string, QuotaUses>();
      for (const [name, each] of reports.flatMap(({ uses: of }) => [...of])) {
        found.set(name, larger(found.get(name), each));
      }
      uses = found;
      states = new Map([...found].map(([name, each]) => [name, next(name, each)]));
      texts = new Map([...states].map(([name, { limits, nearlyFull }]) => [name, `${limits} ${nearlyFull.join()}`]));
      return reports
        .filter(({ projects, error }) => projects.length > 0 || error !== undefined)
        .map(({ uses: _, ...unreadable }) => unreadable);
    },
    quotaUsages: () => uses,
    quotaStates: () => texts,
  };
}

interface Report extends UnreadableUsage {
  readonly uses: ReadonlyMap<string, QuotaUses>;
}

async function reportOf(redisClient: RedisClient, replica: string): Promise<Report> {
  const key = usageKey(replica);
  const uses = new Map<string, QuotaUses>();
  const projects: string[] = [];
  try {
    for (const [name, text] of fieldsOf(await redisClient.read(key, "HGETALL", key))) {
      const found = usesIn(text);
      if (found === undefined) projects.push(name);
      else uses.set(name, found);
    }
  } catch (error) {
    if (!(error instanceof RedisFault)) throw error;
    return { replica, uses, projects, error };
  }
  return { replica, uses, projects };
}

function usesIn(text: string): QuotaUses | undefined {
  try {
    const value = JSON.parse(text) as unknown;
    return isObject(value) && quotaKinds.every((kind) => isUse(value[kind])) ? (value as QuotaUses) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isUse(value: unknown): boolean {
  if (value === undefined) return true;
  const { used, limit } = (value ?? {}) as Partial<QuotaUse>;
  return typeof used === "number" && typeof limit === "number";
}

function larger(one: QuotaUses | undefined, other: QuotaUses): QuotaUses {
  if (one === undefined) return other;
  const kinds = quotaKinds.flatMap((kind) => {
    const use = maxUse(one[kind], other[kind]);
    return use === undefined ? [] : [[kind, use] as const];
  });
  return Object.fromEntries(kinds);
}

function maxUse(one: QuotaUse | undefined, other: QuotaUse | undefined): QuotaUse | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return one.used >= other.used ? one : other;
}

function limitsIn(uses: QuotaUses): string {
  return quotaKinds.map((kind) => uses[kind]?.limit).join();
}

function nearlyFullOf(uses: QuotaUses, before: readonly QuotaKind[] = []): readonly QuotaKind[] {
  return quotaKinds.filter((kind) => {
    const use = uses[kind];
    return use !== undefined && isNearlyFull(use, before.includes(kind));
  });
}

/**
 * `was` = whether it was reported so before: a use that goes up and down around the limit is
 * reported once.
 */
export function isNearlyFull({ used, limit }: QuotaUse, was: boolean): boolean {
  return used >= (was ? nearlyFullUntil : nearlyFullFrom) * limit;
}
