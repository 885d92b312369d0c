// Confirms that what is published and has no custom resource any more has really gone, before anything of it is withdrawn: a
// whole project by a live GET, many children or all of a kind at once by a second look (more than half and more than ten, or
// all of a kind: it may be a fault of ours). Remembers suspicions between two looks.

import { keyOfProject } from "../../core/config/config-keys.ts";
import type { ProjectParts } from "../../core/config/types.ts";
import type { KubeReader } from "../kube/api.ts";
import { customTypes } from "../kube/resource-types.ts";
import type { DataEntry, DataRecord } from "../model/data-record.ts";
import type { Child } from "../model/objects.ts";
import { childrenOf, type ProjectObjects } from "../model/project-objects.ts";
import type { PublishedProject } from "../model/published-project.ts";
import { isMassDeletion } from "../watch/object-cache.ts";
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
    const key = keyOfProject(objects.ref);
    const before = suspicions.get(key) ?? new Set();
    const present = presentChildren(objects);
    const kinds = Object.values(publishedChildren(parts, data));
    // All together, and those of each kind.
    const groups = [new Set(kinds.flatMap((uids) => [...uids])), ...kinds];
    const suspected = new Set(
      groups.flatMap((published) => [...checkMissing({ published, present, deleted, suspected: before }).suspected]),
    );
    if (suspected.size === 0) suspicions.delete(key);
    else suspicions.set(key, suspected);
    return suspected.size === 0;
  };

  return {
    async areConfirmed(objects, published, deleted) {
      const { parts, data } = published;
      if (lacks(objects, parts, deleted)) return false;
      const uid = parts?.project.uid ?? (data !== undefined && hasOpenEntries(data) ? data.projectUid : undefined);
      const gone = objects.project === undefined && uid !== undefined && !deleted.has(uid);
      if (gone && (await api.get(customTypes.Project, objects.ref)) !== undefined) return false;
      return childrenConfirmed(objects, published, deleted);
    },
  };
}

/**
 * True while the missing Project decides whether data are purged. Once that is decided, the record says Retain, and the API server,
 * which may refuse the answer for ever, is not asked again.
 */
function hasOpenEntries({ policy, entries }: DataRecord): boolean {
  return policy === "Delete" && entries.some((entry) => entry.purgeFromRevision === undefined);
}

interface MissingInput {
  /** UIDs, or keys of Projects. */
  readonly published: ReadonlySet<string>;
  readonly present: ReadonlySet<string>;
  /** Whose deletion a live event reported: gone at once. */
  readonly deleted: ReadonlySet<string>;
  /** `suspected` of the pass before; empty on the first. */
  readonly suspected: ReadonlySet<string>;
}

interface MissingResult {
  readonly gone: ReadonlySet<string>;
  /** Absent, and to be looked for again: while there are any, nothing is published and nothing withdrawn. */
  readonly suspected: ReadonlySet<string>;
}

export function checkMissing({ published, present, deleted, suspected }: MissingInput): MissingResult {
  const absent = published.difference(present);
  const unexplained = absent.difference(deleted);
  if (!isMassDeletion(unexplained.size, published.size)) return { gone: absent, suspected: new Set() };
  const waiting = unexplained.difference(suspected);
  return { gone: absent.difference(waiting), suspected: waiting };
}

/** UIDs of the children of each kind that are published, or that have an open data entry. */
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
