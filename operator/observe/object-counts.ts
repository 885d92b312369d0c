// Counts objects by what their statuses say, for metrics that have no series of a single object. The counts follow each change, so that
// a scrape walks over no objects.

import type { CustomResource } from "../model/objects.ts";
import type { ObjectCount } from "./config-metrics.ts";

export interface ObjectCounts {
  /** `before` is the object as it was counted last; undefined = it was not there. `now` undefined = it is no more. */
  change(before: CustomResource | undefined, now: CustomResource | undefined): void;
  objects(): readonly ObjectCount[];
  /** Projects that are Ready, and not known to be served. One whose status an earlier version has written says nothing of that. */
  unavailableProjects(): number;
}

interface ConditionSummary {
  readonly type: string;
  readonly status: string;
}

export function createObjectCounts(): ObjectCounts {
  const counts = new Map<string, ObjectCount>();
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
    if (kind === "Project" && isUnavailable(conditions)) unavailable += difference;
  };

  return {
    change(before, now) {
      if (before !== undefined) add(before, -1);
      if (now !== undefined) add(now, 1);
    },
    objects: () => [...counts.values()],
    unavailableProjects: () => unavailable,
  };
}

function isUnavailable(conditions: readonly ConditionSummary[]): boolean {
  const holds = (name: string) => conditions.find(({ type }) => type === name)?.status ?? "True";
  return holds("Ready") === "True" && holds("Available") !== "True";
}

function conditionsOf({ status }: CustomResource): readonly ConditionSummary[] {
  return (status as { readonly conditions?: readonly ConditionSummary[] } | undefined)?.conditions ?? [];
}
