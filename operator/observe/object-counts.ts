// Counts objects by what their statuses say, for metrics that have no series of a single object.

import type { CustomResource } from "../model/objects.ts";
import type { ObjectCount } from "./config-metrics.ts";

interface ConditionSummary {
  readonly type: string;
  readonly status: string;
}

export function objectCounts(objects: Iterable<CustomResource>): readonly ObjectCount[] {
  const counts = new Map<string, ObjectCount>();
  for (const object of objects) {
    const { kind } = object;
    for (const { type: condition, status: holds } of conditionsOf(object)) {
      const key = `${kind}/${condition}/${holds}`;
      const count = (counts.get(key)?.count ?? 0) + 1;
      counts.set(key, { kind, condition, status: holds as ObjectCount["status"], count });
    }
  }
  return [...counts.values()];
}

/** Projects that are Ready, and not known to be served. One whose status an earlier version has written says nothing of that. */
export function unavailableProjects(objects: Iterable<CustomResource>): number {
  let count = 0;
  for (const object of objects) if (object.kind === "Project" && isUnavailable(conditionsOf(object))) count += 1;
  return count;
}

function isUnavailable(conditions: readonly ConditionSummary[]): boolean {
  const holds = (name: string) => conditions.find(({ type }) => type === name)?.status ?? "True";
  return holds("Ready") === "True" && holds("Available") !== "True";
}

function conditionsOf({ status }: CustomResource): readonly ConditionSummary[] {
  return (status as { readonly conditions?: readonly ConditionSummary[] } | undefined)?.conditions ?? [];
}
