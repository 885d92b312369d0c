// Makes over the stored data of objects that went with their CustomResourceDefinition to the objects that have their names now. Nobody
// wanted the deletion of any one of them, so that no deletionPolicy is asked.

import type { Kind } from "../../core/manifests/object.ts";
import { resourceNameOf, rootKeyOf } from "../model/claimed-name.ts";
import { type DataEntry, type DataRecord, kindOf } from "../model/data-record.ts";
import type { CustomResource } from "../model/objects.ts";
import type { ProjectObjects } from "../model/project-objects.ts";

export interface Succession {
  readonly objects: ProjectObjects;
  /** As they were seen last, of those that somebody deleted. */
  readonly deleted: readonly CustomResource[];
  /** Objects of this kind that are gone went with a former definition, unless somebody deleted them. */
  readonly isReplaced: (kind: Kind) => boolean;
}

export function withSuccessors(record: DataRecord, succession: Succession): DataRecord {
  const { objects, deleted, isReplaced } = succession;
  const { project } = objects;
  const isDeleted = (uid: string): boolean => deleted.some(({ metadata }) => metadata.uid === uid);
  const isSucceeded = project !== undefined && isReplaced("Project") && !isDeleted(record.projectUid);
  const entries = record.entries.map((entry): DataEntry => {
    if (entry.purgeFromRevision !== undefined || !isReplaced(kindOf(entry)) || isDeleted(entry.uid)) return entry;
    const uids = uidsOf(entry, objects);
    const [successor] = uids;
    // Without one nobody has decided over the data, and they stay.
    if (successor === undefined) return { ...entry, retained: true };
    return uids.includes(entry.uid) ? entry : { ...entry, uid: successor };
  });
  return { ...record, ...(isSucceeded && { projectUid: project.metadata.uid }), entries };
}

/** UIDs of the objects that claim its name. */
function uidsOf({ what, name }: DataEntry, { resources, rootKeys }: ProjectObjects): readonly string[] {
  const claimants =
    what === "resource"
      ? resources.filter((each) => resourceNameOf(each) === name)
      : rootKeys.filter((each) => rootKeyOf(each) === name);
  return claimants.map(({ metadata }) => metadata.uid);
}
