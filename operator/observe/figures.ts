// What metrics show of objects, stored data and Redis servers: counts, so that no metric has a
// series of a single object.

import { projectOfKey } from "../../core/config/config-keys.ts";
import type { MemoryUse } from "../../core/redis/primaries.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { type DataInventory, isRetained } from "../model/data-inventory.ts";
import type { CustomResource } from "../model/objects.ts";
import { reportedCheck } from "../model/reported-check.ts";

export interface ObjectCount {
  readonly kind: string;
  readonly condition: string;
  readonly status: "True" | "False" | "Unknown";
  readonly count: number;
}

export interface StalledCount {
  readonly namespace: string;
  readonly kind: string;
  readonly reason: string;
  readonly count: number;
}

export interface InvalidCount {
  readonly namespace: string;
  readonly count: number;
}

/** Follow each change, so that a scrape walks over no objects. */
export interface ObjectCounts {
  /**
   * `before` is the object as it was counted last; undefined = it was not there. `now` undefined =
   * it is no more.
   */
  change(before: CustomResource | undefined, now: CustomResource | undefined): void;
  objects(): readonly ObjectCount[];
  /** Objects that need a person. */
  stalled(): readonly StalledCount[];
  /** Stored objects that don't meet their schema, as statuses say. */
  invalidStoredObjects(): readonly InvalidCount[];
  /** Projects that are Ready, and not known to be served. */
  unavailableProjects(): number;
}

/** Tenants' mistakes must not fill Prometheus. */
const maxStalledSeries = 1_000;
const maxInvalidSeries = 1_000;

export function createObjectCounts(): ObjectCounts {
  const counts = new Map<string, ObjectCount>();
  const stalled = new Map<string, StalledCount>();
  const invalid = new Map<string, InvalidCount>();
  let unavailable = 0;

  const add = (object: CustomResource, difference: 1 | -1): void => {
    const { kind, metadata } = object;
    const { namespace = "" } = metadata;
    const conditions = conditionsOf(object);
    for (const { type, status } of conditions) {
      addTo(counts, { kind, condition: type, status: status as ObjectCount["status"] }, difference);
    }
    const { reason } = trueCondition(conditions, "Stalled") ?? {};
    if (reason !== undefined) addTo(stalled, { namespace, kind, reason }, difference);
    const invalidHere = reportedCheck(object.status)?.invalid ?? 0;
    if (invalidHere > 0) addTo(invalid, { namespace }, difference * invalidHere);
    if (kind === "Project" && isReadyButUnavailable(conditions)) unavailable += difference;
  };

  return {
    change(before, now) {
      if (before !== undefined) add(before, -1);
      if (now !== undefined) add(now, 1);
    },
    objects: () => [...counts.values()],
    stalled: () => capped(stalled, maxStalledSeries, ({ kind, reason }) => ({ namespace: "(others)", kind, reason })),
    invalidStoredObjects: () => capped(invalid, maxInvalidSeries, () => ({ namespace: "(others)" })),
    unavailableProjects: () => unavailable,
  };
}

interface ConditionSummary {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
}

function conditionsOf({ status }: CustomResource): readonly ConditionSummary[] {
  return (status as { readonly conditions?: readonly ConditionSummary[] } | undefined)?.conditions ?? [];
}

function trueCondition(conditions: readonly ConditionSummary[], name: string): ConditionSummary | undefined {
  return conditions.find(({ type, status }) => type === name && status === "True");
}

function isReadyButUnavailable(conditions: readonly ConditionSummary[]): boolean {
  return trueCondition(conditions, "Ready") !== undefined && trueCondition(conditions, "Available") === undefined;
}

function addTo<T extends { readonly count: number }>(
  counts: Map<string, T>,
  labels: Omit<T, "count">,
  difference: number,
): void {
  const key = Object.values(labels).join("/");
  const count = (counts.get(key)?.count ?? 0) + difference;
  if (count === 0) counts.delete(key);
  else counts.set(key, { ...labels, count } as T);
}

/**
 * At most so many series, by name, so that the same ones have one each time; all others are added
 * up.
 */
function capped<T extends { readonly count: number }>(
  counts: ReadonlyMap<string, T>,
  max: number,
  othersOf: (series: T) => Omit<T, "count">,
): readonly T[] {
  if (counts.size <= max) return [...counts.values()];
  const all = [...counts].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, series]) => series);
  const others = new Map<string, T>();
  for (const series of all.slice(max)) addTo(others, othersOf(series), series.count);
  return [...all.slice(0, max), ...others.values()];
}

export interface StoredSeries {
  readonly namespace: string;
  readonly project: string;
  readonly count: number;
}

/** As many Projects as one installation is made for. */
const maxStoredSeries = 10_000;

/**
 * The objects that Projects store, by `<namespace>/<name>`, as series: costs can be shared out by
 * them.
 */
export function storedSeriesOf(counts: ReadonlyMap<string, number>, max = maxStoredSeries): readonly StoredSeries[] {
  const series = Array.from(counts, ([key, count]): readonly [string, StoredSeries] => {
    const { namespace, name } = projectOfKey(key);
    return [key, { namespace, project: name, count }];
  });
  return capped(new Map(series), max, () => ({ namespace: "(others)", project: "(others)" }));
}

/** What is retained of stored data without being served. */
export interface RetainedFigures {
  /** Projects of which something is retained, whether they are there or not. */
  readonly projects: number;
  /** Collections and root keys that are retained. */
  readonly data: number;
}

export const nothingRetained: RetainedFigures = { projects: 0, data: 0 };

export function retainedFigures(
  inventories: ReadonlyMap<string, DataInventory>,
  hasProject: (key: string) => boolean,
): RetainedFigures {
  const figures = { ...nothingRetained };
  for (const [key, { entries }] of inventories) {
    const retained = entries.filter((entry) => isRetained(entry, { hasProject: hasProject(key) }));
    figures.projects += retained.length > 0 ? 1 : 0;
    figures.data += retained.length;
  }
  return figures;
}

export interface RedisServer {
  /** `host:port` of a Cluster's primary; `primary` of a Redis that has one only. */
  readonly server: string;
  /** Undefined when it doesn't say. */
  readonly memory: MemoryUse | undefined;
  /** Unix milliseconds; undefined without TLS. */
  readonly certificateEnds: number | undefined;
}

/** Called now and then, so that a scrape waits for no server. Never rejects. */
export function lookAtRedis(redisClient: Pick<RedisClient, "primaries">): Promise<readonly RedisServer[]> {
  const asked = redisClient.primaries().map(async (primary) => ({
    server: primary.name || "primary",
    memory: await primary.memory(),
    certificateEnds: await primary.certificateEnds(),
  }));
  return Promise.all(asked);
}
