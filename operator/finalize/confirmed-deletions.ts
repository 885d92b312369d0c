// Confirms that what is published and has no custom resource any more has really gone, before anything of it is withdrawn: a
// whole project by a live GET, many children or all of a kind at once by a second look (more than half and more than ten, or
// all of a kind: it may be a fault of ours). The second look comes seconds after the first one, and asks the API server.

import { keyOfProject } from "../../core/config/config-keys.ts";
import type { ProjectParts, ProjectRef } from "../../core/config/types.ts";
import type { Monotonic } from "../../core/timers.ts";
import { isNotFound, type KubeReader } from "../kube/api.ts";
import { customTypes } from "../kube/resource-types.ts";
import type { DataEntry, DataRecord } from "../model/data-record.ts";
import type { Child } from "../model/objects.ts";
import { childrenOf, type ProjectObjects } from "../model/project-objects.ts";
import type { PublishedProject } from "../model/published-project.ts";
import { readPages } from "../watch/list-pages.ts";
import { isMassDeletion } from "../watch/object-cache.ts";

export interface ConfirmedDeletions {
  /**
   * False while something is missing that may only be unseen: nothing may be published or withdrawn then. Whoever gets it asks again after
   * some seconds. Rejects when the API server can't be asked, and when the signal is aborted.
   */
  areConfirmed(
    objects: ProjectObjects,
    published: PublishedProject,
    deleted: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<boolean>;
}

export interface ConfirmedDeletionsDeps {
  readonly api: Pick<KubeReader, "get" | "list">;
  readonly monotonic: Monotonic;
  /** Called when the API server lists so many children of the Project that are missing in memory. */
  readonly onFound: (ref: ProjectRef, children: number) => void;
}

/** Between the two looks: events may bring a Project up again immediately. */
const minIntervalMs = 4_000;
const pageSize = 400;

export function createConfirmedDeletions({ api, monotonic, onFound }: ConfirmedDeletionsDeps): ConfirmedDeletions {
  /** By key of the Project: UIDs of the children that a look missed, and when the first one did. */
  const suspicions = new Map<string, ReadonlyMap<string, number>>();

  const areChildrenConfirmed = async (
    objects: ProjectObjects,
    { parts, data }: PublishedProject,
    deleted: ReadonlySet<string>,
    signal: AbortSignal,
  ): Promise<boolean> => {
    const key = keyOfProject(objects.ref);
    const since = suspicions.get(key) ?? new Map<string, number>();
    const now = monotonic();
    const due = new Set([...since].filter(([, at]) => now - at >= minIntervalMs).map(([uid]) => uid));
    const published = publishedChildren(parts, data);
    const missing = missingChildren({ published, present: presentChildren(objects), deleted, suspected: due });
    const dueAndGone = missing.gone.intersection(due);
    const remembered = missing.suspected.union(dueAndGone);
    suspicions.set(key, new Map([...remembered].map((uid) => [uid, since.get(uid) ?? now])));
    if (missing.suspected.size > 0) return false;
    const kinds = (Object.keys(published) as Child["kind"][]).filter(
      (kind) => !published[kind].isDisjointFrom(dueAndGone),
    );
    if (!(await areGone(kinds, dueAndGone, objects.ref, signal))) return false;
    suspicions.delete(key);
    return true;
  };

  /** A second look at the same memory would only repeat the first one. */
  const areGone = async (
    kinds: readonly Child["kind"][],
    uids: ReadonlySet<string>,
    ref: ProjectRef,
    signal: AbortSignal,
  ): Promise<boolean> => {
    try {
      const listed = await Promise.all(kinds.map((kind) => uidsOf(api, kind, ref.namespace, signal)));
      const found = listed.reduce((count, each) => count + each.intersection(uids).size, 0);
      if (found > 0) onFound(ref, found);
      return found === 0;
    } catch (error) {
      // Without its definition nobody can say of a kind that its objects are gone.
      if (isNotFound(error)) return false;
      throw error;
    }
  };

  return {
    async areConfirmed(objects, published, deleted, signal) {
      const { parts, data } = published;
      const uid = parts?.project.uid ?? (data !== undefined && hasOpenEntries(data) ? data.projectUid : undefined);
      const gone = objects.project === undefined && uid !== undefined && !deleted.has(uid);
      if (gone && (await api.get(customTypes.Project, objects.ref)) !== undefined) return false;
      return await areChildrenConfirmed(objects, published, deleted, signal);
    },
  };
}

/** All together, and those of each kind. */
function missingChildren({ published, ...looked }: MissingChildrenInput): MissingResult {
  const kinds = Object.values(published);
  const groups = [kinds.reduce((all, uids) => all.union(uids)), ...kinds];
  const missing = groups.map((group) => checkMissing({ ...looked, published: group }));
  const union = (sets: readonly ReadonlySet<string>[]) => new Set(sets.flatMap((each) => [...each]));
  return { gone: union(missing.map(({ gone }) => gone)), suspected: union(missing.map((each) => each.suspected)) };
}

async function uidsOf(
  reader: Pick<KubeReader, "list">,
  kind: Child["kind"],
  namespace: string,
  signal: AbortSignal,
): Promise<ReadonlySet<string>> {
  let uids = new Set<string>();
  await readPages(reader, {
    type: customTypes[kind],
    scope: { namespace, metadataOnly: true },
    limit: pageSize,
    signal,
    onBegin() {
      uids = new Set();
    },
    onPage(items) {
      for (const { metadata } of items) uids.add(metadata.uid);
    },
  });
  return uids;
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
  /** Those that the watch or a list reported as gone: no second look is needed. */
  readonly deleted: ReadonlySet<string>;
  /** `suspected` of the pass before; empty on the first. */
  readonly suspected: ReadonlySet<string>;
}

type PublishedChildren = Readonly<Record<Child["kind"], ReadonlySet<string>>>;

interface MissingChildrenInput extends Omit<MissingInput, "published"> {
  readonly published: PublishedChildren;
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
export function publishedChildren(parts: ProjectParts | undefined, record: DataRecord | undefined): PublishedChildren {
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
