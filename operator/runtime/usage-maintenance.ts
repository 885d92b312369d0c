// Keeps the counts of stored objects for metrics, and has at most 200 Projects a minute write what
// they store to their status: those whose objects, or use of a quota, differ by 1 % or more from
// what is reported, in turns. What is reported is the only state, so that a new leader repeats no
// write.

import { projectOfKey } from "../../core/config/config-keys.ts";
import { controllerIn, isOthers } from "../model/controller.ts";
import type { OpenRedis } from "../publish/config-writer.ts";
import { noStoredObjects, readStoredObjects } from "../publish/stored-objects.ts";
import type { Lane } from "../queue/lanes.ts";
import type { KnownUsage } from "../status/outcomes.ts";
import { isWorthReporting } from "../status/usage-status.ts";
import type { OperatorContext } from "./operator-context.ts";

export interface UsageMaintenance {
  /** As of the last refresh, by `<namespace>/<name>`. */
  storedObjects(): ReadonlyMap<string, number>;
  /**
   * Of the Projects that may report now what they store, by key, how many objects that is; changes
   * with each refresh.
   */
  readonly due: ReadonlyMap<string, number | undefined>;
  /** Rejects while Redis is unreachable; the former counts stay. */
  refresh(): Promise<void>;
}

type UsedRedis = Pick<OpenRedis, "redisClient"> & {
  readonly acknowledgements: Pick<OpenRedis["acknowledgements"], "quotaUsages">;
};

export interface UsageMaintenanceDeps {
  readonly context: Pick<OperatorContext, "settings" | "logger"> & {
    readonly caches: Pick<OperatorContext["caches"], "isCurrent" | "index">;
  };
  /** Has the Project looked at, and its status written. */
  readonly enqueue: (key: string, lane: Lane) => void;
  /** Undefined before Redis was reached. */
  readonly redis: () => UsedRedis | undefined;
}

/** With a refresh a minute, some three writes a second at most. */
export const maxReportsPerRefresh = 200;

export function createUsageMaintenance({ context, enqueue, redis }: UsageMaintenanceDeps): UsageMaintenance {
  const { caches, settings, logger } = context;
  let counts: ReadonlyMap<string, number> = noStoredObjects.counts;
  const due = new Map<string, number | undefined>();
  let lastDue = "";

  const isDue = (key: string, usage: KnownUsage): boolean => {
    const ref = projectOfKey(key);
    const project = caches.index.projectOf(ref);
    if (project === undefined || !caches.isCurrent(ref.namespace)) return false;
    if (isOthers(project, controllerIn(settings.namespace))) return false;
    return isWorthReporting(project.status, usage);
  };

  const dueKeys = (quotaUsages: ReturnType<UsedRedis["acknowledgements"]["quotaUsages"]>): readonly string[] =>
    [...new Set([...counts.keys(), ...quotaUsages.keys()])].filter((key) =>
      isDue(key, { storedObjects: counts.get(key), quotaUsage: quotaUsages.get(key) }),
    );

  return {
    storedObjects: () => counts,
    due,
    async refresh() {
      const opened = redis();
      if (opened === undefined) return;
      const found = await readStoredObjects(opened.redisClient);
      const [example] = found.unreadable;
      if (example !== undefined) {
        logger.warn("Counts of stored objects are not valid; ignoring them", {
          projects: found.unreadable.length,
          example,
        });
      }
      counts = found.counts;
      due.clear();
      for (const key of roundRobin(dueKeys(opened.acknowledgements.quotaUsages()), lastDue)) {
        due.set(key, counts.get(key));
        lastDue = key;
        enqueue(key, "bulk");
      }
    },
  };
}

/** As many as may report, in the order of their keys, those after `last` first. */
function roundRobin(due: readonly string[], last: string): readonly string[] {
  const sorted = due.toSorted();
  const later = sorted.filter((key) => key > last);
  return [...later, ...sorted.slice(0, sorted.length - later.length)].slice(0, maxReportsPerRefresh);
}
