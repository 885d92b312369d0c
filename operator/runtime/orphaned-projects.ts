// Finds what is published, or has data to be purged, and belongs to no object: it is withdrawn by its own reconcile. Most of all that is
// published is looked for again first, seconds later and with caches that were compared with the API server meanwhile.

import { keyOfProject, projectOfKey } from "../../core/config/config-keys.ts";
import type { Logger } from "../../core/log/logger.ts";
import { pause, type Timers } from "../../core/timers.ts";
import { checkMissing } from "../finalize/confirmed-deletions.ts";
import { awaitsPurge, type DataRecord, mayDependOnObject } from "../model/data-record.ts";
import type { Publisher } from "../publish/publisher.ts";
import type { WorkQueue } from "../queue/work-queue.ts";

export interface OrphanedProjects {
  /**
   * Adds their keys to the queue. What was withdrawn before, and whose last objects went while nobody looked, comes too: its data count as kept
   * from then on.
   */
  look(): Promise<void>;
}

export interface OrphanedProjectsDeps {
  readonly queue: Pick<WorkQueue, "add">;
  readonly timers: Timers;
  readonly logger: Logger;
  /** Aborted when leadership ends. */
  readonly signal: AbortSignal;
  /** Keys of all Projects that objects name. */
  readonly keys: () => Iterable<string>;
  /** False of a namespace whose objects are not known. */
  readonly isCurrent: (namespace: string) => boolean;
  readonly publisher: () => Promise<Publisher>;
  /** Resolves once what `keys` and `knows` say is no older than this call. */
  readonly confirmCaches: () => Promise<void>;
  /** Runs what nothing waits for, and logs its failure. */
  readonly runTask: (what: string, run: () => Promise<unknown>) => Promise<void>;
}

const suspicionMs = 15_000;

export function createOrphanedProjects(deps: OrphanedProjectsDeps): OrphanedProjects {
  const { queue, logger } = deps;
  let looksAgain = false;

  /** `suspected` = what an earlier look lacked; it is gone where it is missing now, too. */
  const find = async (suspected: ReadonlySet<string>): Promise<void> => {
    const publisher = await deps.publisher();
    const present = new Set(deps.keys());
    const known = (await publisher.published()).filter(({ namespace }) => deps.isCurrent(namespace));
    const published = new Set(known.map(keyOfProject));
    const missing = checkMissing({ published, present, deleted: new Set(), suspected });
    const isThere = (key: string) =>
      present.has(key) || published.has(key) || !deps.isCurrent(projectOfKey(key).namespace);
    for (const key of [...missing.gone, ...leftBehind(publisher.dataRecords(), isThere)]) queue.add(key, "bulk");
    if (missing.suspected.size === 0 || looksAgain) return;
    logger.warn("Mass deletion suspected; checking again before withdrawing", {
      projects: missing.suspected.size,
    });
    looksAgain = true;
    void deps.runTask("orphans", () => lookAgain(missing.suspected));
  };

  const lookAgain = async (suspected: ReadonlySet<string>): Promise<void> => {
    try {
      await pause(deps.timers, suspicionMs, deps.signal);
      await deps.confirmCaches();
    } finally {
      looksAgain = false;
    }
    await find(suspected);
  };

  return {
    async look() {
      // A regular look may come a moment after the one that suspected.
      if (!looksAgain) await find(new Set());
    },
  };
}

/** Keys of which there are only data: to be purged, or of objects that nobody has seen go. */
function leftBehind(records: ReadonlyMap<string, DataRecord>, isThere: (key: string) => boolean): readonly string[] {
  const left = [...records].filter(
    ([key, record]) => awaitsPurge(record) || (mayDependOnObject(record) && !isThere(key)),
  );
  return left.map(([key]) => key);
}
