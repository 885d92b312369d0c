// Counts objects by what their statuses say, for metrics that have no series of a single object. The counts follow each change, so that
// a scrape walks over no objects.

import type { CustomResource } from "../model/objects.ts";
import type { ObjectCount, StalledCount } from "./config-metrics.ts";

export interface ObjectCounts {
  /** `before` is the object as it was counted last; undefined = it was not there. `now` undefined = it is no more. */
  change(before: CustomResource | undefined, now: CustomResource | undefined): void;
  objects(): readonly ObjectCount[];
  /** Objects that need a person. Beyond a thousand series, those of further namespaces are counted together, as of `(others)`. */
  stalled(): readonly StalledCount[];
  /** Projects that are Ready, and not known to be served. */
  unavailableProjects(): number;
}

interface ConditionSummary {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
}

/** Tenants' mistakes must not fill Prometheus. */
const maxStalledSeries = 1_000;

export function createObjectCounts(): ObjectCounts {
  const counts = new Map<string, ObjectCount>();
  const stalled = new Map<string, StalledCount>();
  let unavailable = 0;

  const add = (object: CustomResource, difference: 1 | -1): void => {
    const { kind } = object;
    const conditions = conditionsOf(object);
    for (const { type: condition, status: holds } of conditions) {
      const key = `${kind}/${condition}/${holds}`;
      const count = (counts.get(key)?.count ?? 0) + difference;
      if (count === 0) counts.delete(key);
      else counts.set(key, { kind, condition, status: holds as ObjectCount["status"], count });
    }
    const { reason } = conditions.find(({ type, status }) => type === "Stalled" && status === "True") ?? {};
    if (reason !== undefined) addStalled({ namespace: object.metadata.namespace ?? "", kind, reason }, difference);
    if (kind === "Project" && isUnavailable(conditions)) unavailable += difference;
  };

  const addStalled = (of: Omit<StalledCount, "count">, difference: 1 | -1): void => {
    const key = [of.namespace, of.kind, of.reason].join("/");
    const count = (stalled.get(key)?.count ?? 0) + difference;
    if (count === 0) stalled.delete(key);
    else stalled.set(key, { ...of, count });
  };

  return {
    change(before, now) {
      if (before !== undefined) add(before, -1);
      if (now !== undefined) add(now, 1);
    },
    objects: () => [...counts.values()],
    stalled: () => withinLimit(stalled),
    unavailableProjects: () => unavailable,
  };
}

/** By name, so that the same ones are shown each time: an alert has to see a series without a break. */
function withinLimit(stalled: ReadonlyMap<string, StalledCount>): readonly StalledCount[] {
  const keys = stalled.size > maxStalledSeries ? [...stalled.keys()].sort() : [...stalled.keys()];
  const all = keys.flatMap((key) => stalled.get(key) ?? []);
  const others = new Map<string, StalledCount>();
  for (const { kind, reason, count } of all.slice(maxStalledSeries)) {
    const key = [kind, reason].join("/");
    others.set(key, { namespace: "(others)", kind, reason, count: (others.get(key)?.count ?? 0) + count });
  }
  return [...all.slice(0, maxStalledSeries), ...others.values()];
}

function isUnavailable(conditions: readonly ConditionSummary[]): boolean {
  const holds = (name: string) => conditions.some(({ type, status }) => type === name && status === "True");
  return holds("Ready") && !holds("Available");
}

function conditionsOf({ status }: CustomResource): readonly ConditionSummary[] {
  return (status as { readonly conditions?: readonly ConditionSummary[] } | undefined)?.conditions ?? [];
}
