// Finds what is published, or has data to be purged, and belongs to no object: its own reconcile
// confirms that, and withdraws it.

import { keyOfProject, projectOfKey } from "../../core/config/config-keys.ts";
import { awaitsPurge, type DataRecord, mayDependOnObject } from "../model/data-record.ts";
import type { Publisher } from "../publish/publisher.ts";

export interface OrphanedProjectsDeps {
  /** Keys of all Projects that objects name. */
  readonly keys: () => Iterable<string>;
  /** False of a namespace whose objects are not known. */
  readonly isCurrent: (namespace: string) => boolean;
  readonly publisher: () => Promise<Publisher>;
}

/**
 * Their keys. What was withdrawn before, and whose last objects went while nobody looked, is among
 * them: its data count as kept from then on.
 */
export async function orphanedProjects(deps: OrphanedProjectsDeps): Promise<readonly string[]> {
  const publisher = await deps.publisher();
  const present = new Set(deps.keys());
  const known = (await publisher.published()).filter(({ namespace }) => deps.isCurrent(namespace));
  const published = new Set(known.map(keyOfProject));
  const isThere = (key: string) =>
    present.has(key) || published.has(key) || !deps.isCurrent(projectOfKey(key).namespace);
  return [...published.difference(present), ...leftBehind(publisher.dataRecords(), isThere)];
}

/** Keys of which there are only data: to be purged, or of objects that nobody has seen go. */
function leftBehind(records: ReadonlyMap<string, DataRecord>, isThere: (key: string) => boolean): readonly string[] {
  const left = [...records].filter(
    ([key, record]) => awaitsPurge(record) || (mayDependOnObject(record) && !isThere(key)),
  );
  return left.map(([key]) => key);
}
