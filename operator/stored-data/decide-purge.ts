// Decides whether the data of one resource or root key are purged because its object, or its
// Project, is deleted. The decision is final once the purge was ordered, or once the object that
// caused it is gone; until then an edit of that object's spec can revoke it.

import type { DataEntry } from "../model/data-inventory.ts";
import type { DataObject, DeletionPolicy, Project } from "../model/objects.ts";
import { isDeleting } from "../model/project-objects.ts";

/** What is known when the entries of one project are evaluated. */
export interface PurgeContext {
  /**
   * The Project that the data are served for, or were: absent when it has gone, also when another
   * one has its name.
   */
  readonly project: Project | undefined;
  /** Its policy: of the live spec, else as recorded. */
  readonly projectPolicy: DeletionPolicy;
  /**
   * Its policy as it was recorded last, with what was served; undefined where nothing was recorded.
   */
  readonly recordedPolicy: DeletionPolicy | undefined;
  readonly projectUid: string;
  readonly objectOf: (uid: string) => DataObject | undefined;
  /** A deleted object as it was last seen; undefined when its deletion was not seen. */
  readonly goneOf: (uid: string) => DataObject | undefined;
  /** Whether the purge of an entry has been ordered. */
  readonly isOrdered: (entry: DataEntry) => boolean;
}

export function decidePurge(entry: DataEntry, context: PurgeContext): DataEntry {
  const object = context.objectOf(entry.uid);
  // The spec of an object that exists counts, served or not; of one that has gone, the last spec
  // that was seen, or else published.
  const source = object ?? context.goneOf(entry.uid);
  const policy = source === undefined ? entry.policy : source.spec.deletionPolicy;
  const { policy: _, retained: __, purgeFromRevision, purgeCause: ___, ...rest } = entry;
  const retained: DataEntry = { ...rest, ...(policy !== undefined && { policy }) };
  if (purgeFromRevision !== undefined && !isReleasable(entry, context)) return entry;
  const by = purgeCauseOf(entry, { object, policy }, context);
  if (by !== undefined) return { ...retained, purgeFromRevision: purgeFromRevision ?? 0, purgeCause: by };
  return object === undefined ? { ...retained, retained: true } : retained;
}

/** UID of the object whose deletion purges the entry's data; undefined when nothing does. */
function purgeCauseOf(
  entry: DataEntry,
  { object, policy }: { readonly object: DataObject | undefined; readonly policy: DeletionPolicy | undefined },
  context: PurgeContext,
): string | undefined {
  const { project, projectPolicy, recordedPolicy, projectUid } = context;
  if (isDeletedOrDeleting(project) && projectPolicy === "Delete" && policy !== "Retain") return projectUid;
  // Data that were retained when their object was deleted do not follow a later policy of the
  // Project.
  const ends = object === undefined ? entry.retained !== true : isDeletedOrDeleting(object);
  // The object may have been deleted before its Project said Delete: an operator can learn of both
  // at once. The policy recorded before decides, and of two that differ Retain counts.
  const inherited = object === undefined && recordedPolicy === "Retain" ? "Retain" : projectPolicy;
  return ends && (policy ?? inherited) === "Delete" ? entry.uid : undefined;
}

function isReleasable(entry: DataEntry, context: PurgeContext): boolean {
  if (context.isOrdered(entry)) return false;
  const by =
    entry.purgeCause === context.projectUid ? context.project : context.objectOf(entry.purgeCause ?? entry.uid);
  return by !== undefined;
}

function isDeletedOrDeleting(object: Project | DataObject | undefined): boolean {
  return object === undefined || isDeleting(object);
}
