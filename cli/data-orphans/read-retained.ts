// Reads what is retained, page by page of the operator's records in Redis, and says why nobody
// serves it, by what the API server says of its namespace and Project. Only names of those stay in
// memory.

import { projectOfKey } from "../../core/config/config-keys.ts";
import type { ProjectRef } from "../../core/config/types.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { isForbidden, isNotFound, type KubeObject, type KubeReader } from "../../operator/kube/api.ts";
import { customTypes, namespaceType } from "../../operator/kube/objects.ts";
import { isOthers } from "../../operator/model/controller.ts";
import { type DataEntry, type DataInventory, isRetained } from "../../operator/model/data-inventory.ts";
import { dataInventoryPages } from "../../operator/publish/data-inventories.ts";
import type { RetainedBecause, RetainedItem } from "./retained-item.ts";

export interface RetainedSources {
  readonly redisClient: RedisClient;
  readonly api: Pick<KubeReader, "get" | "list">;
  /** The installation whose Redis it is; see model/controller.ts. */
  readonly controller: string;
  /** Absent = all. */
  readonly namespace: string | undefined;
}

/** One page of records at a time, each in the order of names. */
export async function* retainedPages(sources: RetainedSources): AsyncIterable<readonly RetainedItem[]> {
  const namespaces = createNamespaces(sources.api);
  /** A record that the operator writes meanwhile may come twice. */
  const seen = new Set<string>();
  for await (const page of dataInventoryPages(sources.redisClient)) {
    const items: RetainedItem[] = [];
    for (const [key, record] of [...page].sort(([one], [other]) => (one < other ? -1 : 1))) {
      const ref = projectOfKey(key);
      if (seen.has(key) || (sources.namespace !== undefined && ref.namespace !== sources.namespace)) continue;
      seen.add(key);
      if (mayRetain(record)) items.push(...itemsOf(ref, record, await namespaces.of(ref.namespace), sources));
    }
    yield items;
  }
}

/** What the record of one project says is retained now. */
export function itemsOf(
  ref: ProjectRef,
  { entries }: DataInventory,
  found: FoundNamespace | undefined,
  { controller }: Pick<RetainedSources, "controller">,
): readonly RetainedItem[] {
  const project = found?.projects.get(ref.name);
  const hasProject = project !== undefined;
  const because = (entry: DataEntry): RetainedBecause => {
    if (found === undefined) return "NamespaceNotWatched";
    if (isForeign(entry, found)) return "EarlierNamespace";
    if (!hasProject) return "ProjectDeleted";
    if (isOthers(project, controller)) return "OtherController";
    return isFree(entry) ? "ObjectDeleted" : "ObjectNotServed";
  };
  const isListed = (entry: DataEntry): boolean =>
    entry.purgeFromRevision !== undefined ||
    isForeign(entry, found) ||
    isRetained(entry, { hasProject: hasProject || found === undefined });
  return entries
    .filter(isListed)
    .map((entry) => ({ project: ref, entry, because: because(entry), state: stateOf(entry, found) }));
}

/** True for data of an earlier namespace of that name. */
function isForeign(entry: DataEntry, found: FoundNamespace | undefined): boolean {
  return found !== undefined && found.uid !== entry.namespaceUid;
}

/** Its object is gone, or can't be theirs; else an object stands before them. */
function stateOf(entry: DataEntry, found: FoundNamespace | undefined): RetainedItem["state"] {
  if (entry.purgeFromRevision !== undefined) return "Deleting";
  return isFree(entry) || isForeign(entry, found) ? "Kept" : "Guarded";
}

/** Its object is gone, and none has come since that names them. */
function isFree({ retained, guarded }: DataEntry): boolean {
  return retained === true && guarded !== true;
}

/**
 * A record without entries saves a request to the API server. Others may have data to list although
 * no entry says so: their Project or its namespace may be gone.
 */
function mayRetain({ entries }: DataInventory): boolean {
  return entries.length > 0;
}

export interface FoundNamespace {
  /** Undefined when there is none of the name. */
  readonly uid: string | undefined;
  /** By name. */
  readonly projects: ReadonlyMap<string, KubeObject>;
}

const pageSize = 500;

function createNamespaces(api: RetainedSources["api"]): { of(name: string): Promise<FoundNamespace | undefined> } {
  const known = new Map<string, FoundNamespace | undefined>();
  return {
    async of(name) {
      if (!known.has(name)) known.set(name, await findNamespace(api, name));
      return known.get(name);
    },
  };
}

/** Undefined where this account has no right to read them. */
async function findNamespace(api: RetainedSources["api"], name: string): Promise<FoundNamespace | undefined> {
  try {
    const uid = (await api.get(namespaceType, { namespace: "", name }))?.metadata.uid;
    return { uid, projects: uid === undefined ? new Map() : await projectsOf(api, name) };
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

async function projectsOf(api: RetainedSources["api"], namespace: string): Promise<ReadonlyMap<string, KubeObject>> {
  const found = new Map<string, KubeObject>();
  let next: string | undefined;
  try {
    do {
      const page = await api.list(customTypes.Project, { namespace, limit: pageSize, ...(next && { continue: next }) });
      for (const project of page.items) found.set(project.metadata.name, project);
      next = page.continue;
    } while (next !== undefined && next !== "");
  } catch (error) {
    // Without the CRD there is no Project.
    if (!isNotFound(error)) throw error;
  }
  return found;
}
