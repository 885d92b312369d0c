// What the live replicas say of quotas, as the statuses of Projects are to say it: often enough to be useful, and seldom enough that
// an API server does not feel the writes of clients. Of several replicas the one that knows of more is right, or was a moment ago.
// Figures of a project that can't be read count as absent, and are named; other projects and replicas are not affected.

import { usageKey } from "../../core/config/config-keys.ts";
import { type QuotaUse, type QuotaUses, quotaKinds } from "../../core/config/quota-uses.ts";
import { isObject } from "../../core/json/json-value.ts";
import { RedisFault } from "../../core/redis/failure.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { fieldsOf } from "../../core/redis/reply.ts";

/** From this part of a quota on it is nearly full, and below the second one no more. */
const nearlyFullFrom = 0.8;
const nearlyFullUntil = 0.75;
/** A change of less than this part of the limit is not worth a write. */
const minReportedChange = 0.01;

/** Projects of which a replica has written figures that can't be read. */
export interface UnreadableUsage {
  readonly replica: string;
  readonly projects: readonly string[];
  /** Why nothing of the replica can be read, as where its key is of another type. */
  readonly error?: RedisFault;
}

export interface QuotaAggregator {
  /** Takes down what the replicas say now; answers with what of it can't be read. Rejects where Redis can't be asked. */
  read(replicas: readonly string[]): Promise<readonly UnreadableUsage[]>;
  /** By `<namespace>/<name>`: changes at most once in `restMs` while the limits stay the same. */
  quotaUsages(): ReadonlyMap<string, QuotaUses>;
}

interface Entry {
  readonly uses: QuotaUses;
  readonly at: number;
}

/** `now` counts milliseconds and never goes back. */
export function createQuotaAggregator(redisClient: RedisClient, now: () => number, restMs = 60_000): QuotaAggregator {
  let entries: ReadonlyMap<string, Entry> = new Map();
  let uses: ReadonlyMap<string, QuotaUses> = new Map();

  const next = (name: string, found: QuotaUses): Entry => {
    const former = entries.get(name);
    if (former === undefined || !hasSameLimits(former.uses, found)) return { uses: found, at: now() };
    const isDue = now() - former.at >= restMs && isWorthReporting(former.uses, found);
    return isDue ? { uses: found, at: now() } : former;
  };

  return {
    async read(replicas) {
      const reports = await Promise.all(replicas.map((replica) => reportOf(redisClient, replica)));
      const found = new Map<string, QuotaUses>();
      for (const [name, each] of reports.flatMap(({ uses: of }) => [...of])) {
        found.set(name, larger(found.get(name), each));
      }
      entries = new Map([...found].map(([name, each]) => [name, next(name, each)]));
      uses = new Map([...entries].map(([name, entry]) => [name, entry.uses]));
      return reports
        .filter(({ projects, error }) => projects.length > 0 || error !== undefined)
        .map(({ uses: _, ...unreadable }) => unreadable);
    },
    quotaUsages: () => uses,
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

function hasSameLimits(before: QuotaUses, after: QuotaUses): boolean {
  return quotaKinds.every((kind) => before[kind]?.limit === after[kind]?.limit);
}

function isWorthReporting(before: QuotaUses, after: QuotaUses): boolean {
  return quotaKinds.some((kind) => {
    const [former, use] = [before[kind], after[kind]];
    if (former === undefined || use === undefined || former.used === use.used) return false;
    const isFar = Math.abs(use.used - former.used) >= minReportedChange * use.limit;
    return isFar || isNearlyFull(use, false) !== isNearlyFull(former, false);
  });
}

/** `was` = whether it was reported so before: a use that goes up and down around the limit is reported once. */
export function isNearlyFull({ used, limit }: QuotaUse, was: boolean): boolean {
  return used >= (was ? nearlyFullUntil : nearlyFullFrom) * limit;
}
