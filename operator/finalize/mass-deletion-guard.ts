// Says which published objects have gone although no event reported their deletion: at a cold start, or after a list. A mass absence
// (more than half and more than ten, or all of a kind) waits until a second pass sees it too: it may be a fault of ours.

import type { ProjectParts } from "../../core/config/types.ts";
import type { DataEntry, DataRecord } from "../model/data-record.ts";
import type { Child } from "../model/objects.ts";
import { childrenOf, type ProjectObjects } from "../model/project-objects.ts";
import { isMassAbsence } from "../watch/object-cache.ts";

export interface Absence {
  /** UIDs, or keys of Projects. */
  readonly published: ReadonlySet<string>;
  readonly present: ReadonlySet<string>;
  /** Whose deletion a live event reported: gone at once. */
  readonly deleted: ReadonlySet<string>;
  /** `suspected` of the pass before; empty on the first. */
  readonly suspected: ReadonlySet<string>;
}

export interface AbsenceResult {
  readonly gone: ReadonlySet<string>;
  /** Absent, and to be looked for again: while there are any, nothing is published and nothing withdrawn. */
  readonly suspected: ReadonlySet<string>;
}

export function checkAbsence({ published, present, deleted, suspected }: Absence): AbsenceResult {
  const absent = published.difference(present);
  const unexplained = absent.difference(deleted);
  if (!isMassAbsence(unexplained.size, published.size)) return { gone: absent, suspected: new Set() };
  const waiting = unexplained.difference(suspected);
  return { gone: absent.difference(waiting), suspected: waiting };
}

/** UIDs of the children of each kind that are published, or whose data are on record and not yet settled. */
export function publishedChildren(
  parts: ProjectParts | undefined,
  record: DataRecord | undefined,
): Readonly<Record<Child["kind"], ReadonlySet<string>>> {
  const open = (record?.entries ?? []).filter(
    (entry) => entry.retained !== true && entry.purgeFromRevision === undefined,
  );
  const recorded = (what: DataEntry["what"]) => open.filter((entry) => entry.what === what);
  const uids = (served: Published, ...more: readonly { readonly uid: string }[]): ReadonlySet<string> =>
    new Set([...(served?.values() ?? []), ...more].map(({ uid }) => uid));
  return {
    ApiResource: uids(parts?.resources, ...recorded("resource")),
    RootKey: uids(parts?.rootKeys, ...recorded("rootkey")),
    ProjectUser: uids(parts?.users),
    ApiKey: uids(parts?.keys),
  };
}

type Published = ReadonlyMap<string, { readonly uid: string }> | undefined;

export function presentChildren(objects: ProjectObjects): ReadonlySet<string> {
  return new Set(childrenOf(objects).map((child) => child.metadata.uid));
}
