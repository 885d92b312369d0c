// What is published is withdrawn only once its object is known to be gone. An object counts as gone
// if the watch reported its deletion, or if the API server, asked in this pass, doesn't list it;
// provided that the CustomResourceDefinition of its kind exists and is not being deleted. Until
// everything that is missing counts as gone, the Project stays as published, less the credentials
// whose deletion is known, and is checked again after a backoff.

import type { CompiledProject, ProjectRef } from "../../core/config/types.ts";
import type { Kind } from "../../core/manifests/object.ts";
import { isNotFound, type KubeReader } from "../kube/api.ts";
import { customTypes } from "../kube/objects.ts";
import { type DataInventory, kindOf } from "../model/data-inventory.ts";
import { childKindNames, childKinds } from "../model/kinds.ts";
import type { Child, CustomResource } from "../model/objects.ts";
import { allObjects, isDeleting, type ProjectObjects } from "../model/project-objects.ts";
import type { PublishedProject } from "../publish/writer-session.ts";
import { readPages } from "../watch/list-pages.ts";
import type { Definitions } from "./definitions.ts";

export interface Absences {
  /** Rejects when the signal is aborted. */
  confirm(seen: SeenOfProject, signal: AbortSignal): Promise<Absence>;
}

export interface SeenOfProject {
  readonly objects: ProjectObjects;
  readonly published: PublishedProject;
  /** What the watch reported as deleted. */
  readonly deleted: readonly CustomResource[];
}

export interface Absence {
  /**
   * False while something is missing, or being deleted, that may have gone with its definition, or
   * may only be unseen.
   */
  readonly isConfirmed: boolean;
  /**
   * What the watch reported as deleted and is known to be gone, and users and keys that are being
   * deleted.
   */
  readonly gone: readonly CustomResource[];
  /** Why the API server could not be asked. */
  readonly failure?: { readonly error: unknown };
}

export interface AbsencesDeps {
  readonly api: Pick<KubeReader, "get" | "list">;
  readonly definitions: Definitions;
  /** Called when the API server has objects of the Project that are missing in memory. */
  readonly onFound: (ref: ProjectRef, objects: number) => void;
}

const pageSize = 400;

export function createAbsences({ api, definitions, onFound }: AbsencesDeps): Absences {
  const hasProject = async (ref: ProjectRef): Promise<boolean> =>
    (await api.get(customTypes.Project, ref)) !== undefined;

  const countFound = async ({ ref }: ProjectObjects, missing: Missing, signal: AbortSignal): Promise<number> => {
    const project = missing.project && (await hasProject(ref)) ? 1 : 0;
    const found = await Promise.all(
      [...missing.children].map(
        async ([kind, uids]) => (await uidsOf(api, kind, ref.namespace, signal)).intersection(uids).size,
      ),
    );
    return found.reduce((sum, each) => sum + each, project);
  };

  const standingOf = async (kinds: Iterable<Kind>): Promise<ReadonlySet<Kind>> => {
    const found = await Promise.all([...kinds].map(async (kind) => ((await definitions.stands(kind)) ? [kind] : [])));
    return new Set(found.flat());
  };

  return {
    async confirm(seen, signal) {
      const { objects, deleted } = seen;
      const missing = missingOf(seen);
      const going = allObjects(objects).filter(isDeleting);
      const kinds = new Set([...missingKinds(missing), ...[...deleted, ...going].map(({ kind }) => kind)]);
      const standing = await standingOf(kinds);
      const gone = [...deleted, ...going.filter(isCredential)].filter(({ kind }) => standing.has(kind));
      if (standing.size < kinds.size) return { isConfirmed: false, gone };
      try {
        const found = await countFound(objects, missing, signal);
        if (found > 0) onFound(objects.ref, found);
        return { isConfirmed: found === 0, gone };
      } catch (error) {
        // An operator of single namespaces can't ask whether the definition exists.
        if (isNotFound(error)) return { isConfirmed: false, gone };
        signal.throwIfAborted();
        return { isConfirmed: false, gone, failure: { error } };
      }
    },
  };
}

/** A key or login stops working as soon as its deletion begins. */
function isCredential({ kind }: CustomResource): boolean {
  return kind === "ProjectUser" || kind === "ApiKey";
}

interface Missing {
  readonly project: boolean;
  /** UIDs by kind, of kinds of which some are missing. */
  readonly children: ReadonlyMap<Child["kind"], ReadonlySet<string>>;
}

/** What is published, and neither in memory nor reported as deleted. */
function missingOf({ objects, published: { config, data }, deleted }: SeenOfProject): Missing {
  const own = [...allObjects(objects), ...deleted].map(({ metadata }) => metadata.uid);
  const known = new Set([...own, ...(objects.othersUids ?? [])]);
  const uid = config?.project.uid ?? (data !== undefined && decidesOverData(data) ? data.projectUid : undefined);
  const children = publishedChildren(config, data);
  return {
    project: objects.project === undefined && uid !== undefined && !known.has(uid),
    children: new Map(
      [...children].map(([kind, uids]) => [kind, uids.difference(known)] as const).filter(([, uids]) => uids.size > 0),
    ),
  };
}

function missingKinds({ project, children }: Missing): readonly Kind[] {
  return [...(project ? (["Project"] as const) : []), ...children.keys()];
}

/**
 * True while the missing Project decides whether data are purged. Once that is decided, the
 * inventory says Retain, and the API server, which may refuse the answer for ever, is not asked
 * again.
 */
function decidesOverData({ policy, entries }: DataInventory): boolean {
  return policy === "Delete" && entries.some((entry) => entry.purgeFromRevision === undefined);
}

/**
 * UIDs of the children of each kind that are published, or that have data over which nobody has
 * decided.
 */
export function publishedChildren(
  config: CompiledProject | undefined,
  inventory: DataInventory | undefined,
): ReadonlyMap<Child["kind"], ReadonlySet<string>> {
  const open = (inventory?.entries ?? []).filter(
    (entry) => entry.retained !== true && entry.purgeFromRevision === undefined,
  );
  const uidsOfKind = (kind: Child["kind"]): ReadonlySet<string> => {
    const published = [...(config?.[childKinds[kind].member].values() ?? [])];
    return new Set([...published, ...open.filter((entry) => kindOf(entry) === kind)].map(({ uid }) => uid));
  };
  return new Map(childKindNames.map((kind) => [kind, uidsOfKind(kind)]));
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
