// Decides over the data of one resource or root key: whether the end of its object, or of its Project, has them purged. That is
// final once its purge was ordered, or once the object that brought it has gone; until then its live spec can release it.

import type { DataEntry } from "../model/data-record.ts";
import { type ApiResource, type DeletionPolicy, isDeleting, type Project, type RootKey } from "../model/objects.ts";

/** What is known when the entries of one project are evaluated. */
export interface PurgeContext {
  /** The Project that the data are served for, or were: absent when it has gone, also when another one has its name. */
  readonly project: Project | undefined;
  /** Its policy: of the live spec, else as recorded. */
  readonly projectPolicy: DeletionPolicy;
  /** Its policy as it was recorded last, with what was served; undefined where nothing was recorded. */
  readonly recordedPolicy: DeletionPolicy | undefined;
  readonly projectUid: string;
  readonly objectOf: (uid: string) => ApiResource | RootKey | undefined;
  /** One that has gone, as it was seen last; undefined when nobody saw it go. */
  readonly goneOf: (uid: string) => ApiResource | RootKey | undefined;
  /** Whether the purge of an entry has been ordered. */
  readonly isOrdered: (entry: DataEntry) => boolean;
}

export function decidePurge(entry: DataEntry, context: PurgeContext): DataEntry {
  const object = context.objectOf(entry.uid);
  // The spec of an object that exists counts, served or not; of one that has gone, the last spec that was seen, or else
  // published.
  const source = object ?? context.goneOf(entry.uid);
  const policy = source === undefined ? entry.policy : source.spec.deletionPolicy;
  const { policy: _, retained: __, purgeFromRevision, purgeCause: ___, ...rest } = entry;
  const kept: DataEntry = { ...rest, ...(policy !== undefined && { policy }) };
  if (purgeFromRevision !== undefined && !isReleasable(entry, context)) return entry;
  const by = purgeCauseOf(entry, { object, policy }, context);
  if (by !== undefined) return { ...kept, purgeFromRevision: purgeFromRevision ?? 0, purgeCause: by };
  return object === undefined ? { ...kept, retained: true } : kept;
}

interface Holder {
  readonly object: ApiResource | RootKey | undefined;
  readonly policy: DeletionPolicy | undefined;
}

/** UID of the object whose deletion purges the entry's data; undefined when nothing does. */
function purgeCauseOf(entry: DataEntry, { object, policy }: Holder, context: PurgeContext): string | undefined {
  const { project, projectPolicy, recordedPolicy, projectUid } = context;
  if (isEnding(project) && projectPolicy === "Delete" && policy !== "Retain") return projectUid;
  // Kept at its end: what its Project says later of the living does not concern it.
  const ends = object === undefined ? entry.retained !== true : isEnding(object);
  // One that has gone may have gone before its Project said Delete: an operator can learn of both at once. What was recorded
  // before tells, and of two that differ Retain counts.
  const inherited = object === undefined && recordedPolicy === "Retain" ? "Retain" : projectPolicy;
  return ends && (policy ?? inherited) === "Delete" ? entry.uid : undefined;
}

function isReleasable(entry: DataEntry, context: PurgeContext): boolean {
  if (context.isOrdered(entry)) return false;
  const by =
    entry.purgeCause === context.projectUid ? context.project : context.objectOf(entry.purgeCause ?? entry.uid);
  return by !== undefined;
}

function isEnding(object: Project | ApiResource | RootKey | undefined): boolean {
  return object === undefined || isDeleting(object);
}
