// Says which published objects may be taken for gone although nobody was told of their deletion: at a cold start, or after a
// list. A mass absence, more than half and more than ten, waits until a second pass sees it too: it may be a fault of ours.

import type { ProjectParts } from "../../core/config/types.ts";
import type { DataRecord } from "../data-record.ts";
import { childrenOf, type ProjectObjects } from "../project-objects.ts";

export interface Absence {
  /** UIDs, or keys of Projects. */
  readonly published: ReadonlySet<string>;
  readonly present: ReadonlySet<string>;
  /** Whose deletion was told by a live event: gone at once. */
  readonly deleted: ReadonlySet<string>;
  /** `suspected` of the pass before; empty on the first. */
  readonly suspected: ReadonlySet<string>;
}

export interface AbsenceJudgement {
  readonly gone: ReadonlySet<string>;
  /** Absent, and to be looked for again: while there are any, nothing is published and nothing withdrawn. */
  readonly suspected: ReadonlySet<string>;
}

const fewest = 10;

export function judgeAbsence({ published, present, deleted, suspected }: Absence): AbsenceJudgement {
  const absent = published.difference(present);
  const untold = absent.difference(deleted);
  if (!isMass(untold.size, published.size)) return { gone: absent, suspected: new Set() };
  const waiting = untold.difference(suspected);
  return { gone: absent.difference(waiting), suspected: waiting };
}

function isMass(absent: number, of: number): boolean {
  return absent > fewest && absent * 2 > of;
}

/** UIDs of the children that are published, or whose data are on record and not yet settled. */
export function publishedChildren(
  parts: ProjectParts | undefined,
  record: DataRecord | undefined,
): ReadonlySet<string> {
  const maps = parts === undefined ? [] : [parts.resources, parts.rootKeys, parts.users, parts.keys];
  const served = maps.flatMap((map: ReadonlyMap<string, { readonly uid: string }>) => [...map.values()]);
  const open = (record?.entries ?? []).filter((entry) => entry.retained !== true && entry.doomedAt === undefined);
  return new Set([...served, ...open].map(({ uid }) => uid));
}

export function presentChildren(objects: ProjectObjects): ReadonlySet<string> {
  return new Set(childrenOf(objects).map((child) => child.metadata.uid));
}
