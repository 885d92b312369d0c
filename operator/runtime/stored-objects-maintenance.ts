// What the leader does about the objects that replicas count: keeps the counts for metrics, and has some Projects report theirs, those whose
// status says something else by a hundredth or more. However many Projects change, their number in each look is bounded, and all get
// their turn. What a status reported is the only memory, so that a new leader writes nothing that is reported already.

import { projectOfKey } from "../../core/config/config-keys.ts";
import type { OpenRedis } from "../publish/config-writer.ts";
import { noStoredObjects, readStoredObjects } from "../publish/stored-objects.ts";
import type { Lane } from "../queue/lanes.ts";
import { isWorthReporting } from "../status/usage-status.ts";
import type { OperatorContext } from "./operator-context.ts";
import { isOurs } from "./process-key.ts";

export interface StoredObjectsMaintenance {
  /** Of Projects whose status is to report another count, by `<namespace>/<name>`; changes with each look. */
  readonly toReport: ReadonlyMap<string, number>;
  /** As of the last look, by `<namespace>/<name>`. */
  counts(): ReadonlyMap<string, number>;
  /** Rejects while Redis is away; the former counts stay. */
  look(): Promise<void>;
}

export interface StoredObjectsMaintenanceDeps {
  readonly context: Pick<OperatorContext, "settings" | "logger"> & {
    readonly caches: Pick<OperatorContext["caches"], "isCurrent" | "index">;
  };
  /** Has the Project looked at, and its status written. */
  readonly enqueue: (key: string, lane: Lane) => void;
  /** Undefined before Redis was reached. */
  readonly redis: () => Pick<OpenRedis, "redisClient"> | undefined;
}

/** With a look a minute, some three writes a second at most. */
export const maxReportsPerLook = 200;

export function createStoredObjectsMaintenance({
  context,
  enqueue,
  redis,
}: StoredObjectsMaintenanceDeps): StoredObjectsMaintenance {
  const { caches, settings, logger } = context;
  let counts: ReadonlyMap<string, number> = noStoredObjects.counts;
  const toReport = new Map<string, number>();
  let lastReported = "";

  const isDue = (key: string, count: number): boolean => {
    const ref = projectOfKey(key);
    const project = caches.index.projectOf(ref);
    if (project === undefined || !caches.isCurrent(ref.namespace) || !isOurs(project, settings)) return false;
    return isWorthReporting(project.status, count);
  };

  return {
    toReport,
    counts: () => counts,
    async look() {
      const opened = redis();
      if (opened === undefined) return;
      const found = await readStoredObjects(opened.redisClient);
      const [one] = found.unreadable;
      if (one !== undefined) {
        logger.warn("Counts of stored objects are not valid; ignoring them", {
          projects: found.unreadable.length,
          one,
        });
      }
      counts = found.counts;
      const due = [...counts].filter(([key, count]) => isDue(key, count));
      toReport.clear();
      for (const [key, count] of takingTurns(due, lastReported).slice(0, maxReportsPerLook)) {
        toReport.set(key, count);
        lastReported = key;
        enqueue(key, "bulk");
      }
    },
  };
}

/** In the order of their keys, those after `last` first. */
function takingTurns<T>(due: readonly (readonly [string, T])[], last: string): readonly (readonly [string, T])[] {
  const sorted = due.toSorted(([one], [other]) => (one < other ? -1 : 1));
  const isLater = ([key]: readonly [string, T]): boolean => key > last;
  return [...sorted.filter(isLater), ...sorted.filter((each) => !isLater(each))];
}
