// Confirms that what is published and has no custom resource any more has really gone, before anything of it is withdrawn: a
// whole project by a live GET, many children or all of a kind at once by a second look. Remembers suspicions between two looks.

import type { ProjectRef } from "../../core/config/types.ts";
import type { KubeReader } from "../kube/api.ts";
import { customTypes } from "../kube/resource-types.ts";
import type { DataRecord } from "../model/data-record.ts";
import type { ProjectObjects } from "../model/project-objects.ts";
import type { PublishedProject } from "../model/published-project.ts";
import { checkAbsence, presentChildren, publishedChildren } from "./mass-deletion-guard.ts";
import type { ReplacedDefinitions } from "./replaced-definitions.ts";

export interface ConfirmedDeletions {
  /** False while something is missing that may only be unseen: nothing may be published or withdrawn then. */
  areConfirmed(objects: ProjectObjects, published: PublishedProject, deleted: ReadonlySet<string>): Promise<boolean>;
}

export function createConfirmedDeletions(
  api: Pick<KubeReader, "get">,
  { lacks }: Pick<ReplacedDefinitions, "lacks">,
): ConfirmedDeletions {
  const suspicions = new Map<string, ReadonlySet<string>>();

  const childrenConfirmed = (
    objects: ProjectObjects,
    { parts, data }: PublishedProject,
    deleted: ReadonlySet<string>,
  ): boolean => {
    const key = keyOf(objects.ref);
    const before = suspicions.get(key) ?? new Set();
    const present = presentChildren(objects);
    const kinds = Object.values(publishedChildren(parts, data));
    // All together, and those of each kind.
    const groups = [new Set(kinds.flatMap((uids) => [...uids])), ...kinds];
    const suspected = new Set(
      groups.flatMap((published) => [...checkAbsence({ published, present, deleted, suspected: before }).suspected]),
    );
    if (suspected.size === 0) suspicions.delete(key);
    else suspicions.set(key, suspected);
    return suspected.size === 0;
  };

  return {
    async areConfirmed(objects, published, deleted) {
      const { parts, data } = published;
      if (lacks(objects, parts, deleted)) return false;
      const uid = parts?.project.uid ?? (data !== undefined && isUnsettled(data) ? data.projectUid : undefined);
      const gone = objects.project === undefined && uid !== undefined && !deleted.has(uid);
      if (gone && (await api.get(customTypes.Project, objects.ref)) !== undefined) return false;
      return childrenConfirmed(objects, published, deleted);
    },
  };
}

/**
 * Its Project's absence would decide over data: their own policy decides over the others. Once it has, the record says Retain, and nobody
 * need be asked again, who may refuse the answer for ever.
 */
function isUnsettled({ policy, entries }: DataRecord): boolean {
  return policy === "Delete" && entries.some((entry) => entry.purgeFromRevision === undefined);
}

function keyOf({ namespace, name }: ProjectRef): string {
  return `${namespace}/${name}`;
}
