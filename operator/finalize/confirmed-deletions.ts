// Confirms that what is published and has no custom resource any more has really gone, before anything of it is withdrawn: a
// whole project by a live GET, many children or all of a kind at once by a second look (more than half and more than ten, or
// all of a kind: the cache may be wrong). The second look counts only some seconds after the first.

import { keyOfProject } from "../../core/config/config-keys.ts";
import type { ProjectParts } from "../../core/config/types.ts";
import type { Monotonic } from "../../core/timers.ts";
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

/** Milliseconds between the two looks at the children of a Project. */
export const secondLookMs = 5_000;

export function createConfirmedDeletions(
  api: Pick<KubeReader, "get">,
  { lacks }: Pick<ReplacedDefinitions, "lacks">,
  monotonic: Monotonic,
): ConfirmedDeletions {
  const suspicions = new Map<string, Suspicions>();

  const childrenConfirmed = (
    objects: ProjectObjects,
    { parts, data }: PublishedProject,
    deleted: ReadonlySet<string>,
  ): boolean => {
    const key = keyOfProject(objects.ref);
    const suspected = suspicions.get(key) ?? new Suspicions(secondLookMs, monotonic);
    const present = presentChildren(objects);
    const kinds = Object.values(publishedChildren(parts, data));
    // All together, and those of each kind.
    const groups = [new Set(kinds.flatMap((uids) => [...uids])), ...kinds];
    const due = suspected.due();
    const checked = groups.map((published) => checkMissing({ published, present, deleted, suspected: due }));
    const isConfirmed = checked.every(({ waiting }) => waiting.size === 0);
    if (isConfirmed) {
      suspicions.delete(key);
    } else {
      suspected.look(checked.flatMap(({ missing }) => [...missing]));
      suspicions.set(key, suspected);
    }
    return isConfirmed;
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

interface MissingInput {
  /** UIDs, or keys of Projects. */
  readonly published: ReadonlySet<string>;
  readonly present: ReadonlySet<string>;
  /** Whose deletion a live event reported: gone at once. */
  readonly deleted: ReadonlySet<string>;
  /** Missing at an earlier look that is long enough ago. */
  readonly suspected: ReadonlySet<string>;
}

interface MissingResult {
  readonly gone: ReadonlySet<string>;
  /** Absent, and to be looked for again: while there are any, nothing is published and nothing withdrawn. */
  readonly waiting: ReadonlySet<string>;
  /** Everything that is absent without an explanation where so much is, `waiting` and what was suspected before. */
  readonly missing: ReadonlySet<string>;
}

export function checkMissing({ published, present, deleted, suspected }: MissingInput): MissingResult {
  const absent = published.difference(present);
  const missing = absent.difference(deleted);
  if (!isMassDeletion(missing.size, published.size)) return { gone: absent, waiting: new Set(), missing: new Set() };
  const waiting = missing.difference(suspected);
  return { gone: absent.difference(waiting), waiting, missing };
}

/** What looks have found missing, and since when: events make looks follow each other within milliseconds, which proves nothing. */
export class Suspicions {
  readonly #minMs: number;
  readonly #monotonic: Monotonic;
  #since: ReadonlyMap<string, number> = new Map();

  constructor(minMs: number, monotonic: Monotonic) {
    this.#minMs = minMs;
    this.#monotonic = monotonic;
  }

  /** Missing for so long that one more look confirms it. */
  due(): ReadonlySet<string> {
    const until = this.#monotonic() - this.#minMs;
    return new Set([...this.#since].flatMap(([name, since]) => (since <= until ? [name] : [])));
  }

  /** What this look found missing. What it did not is no longer suspected. */
  look(missing: Iterable<string>): void {
    const now = this.#monotonic();
    this.#since = new Map([...missing].map((name) => [name, this.#since.get(name) ?? now]));
  }
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
