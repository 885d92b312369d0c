// Plans what becomes of a project's stored data, in two steps around compile: which data are to be
// deleted, and whose may not be served (before it), then what is recorded beside the configuration
// (after it). Nothing is deleted here, and nothing is ever planned against data of another
// namespace unless a person asked for their adoption, who was allowed to.

import type { CompiledProject } from "../../core/config/types.ts";
import type { DataEntry, DataInventory, DeletedProject } from "../model/data-inventory.ts";
import { type CustomResource, type DataObject, isDataObject, type Project } from "../model/objects.ts";
import { adoptAnnotation, type ProjectObjects } from "../model/project-objects.ts";
import { purgeId } from "./advance-purges.ts";
import { decidePurge, type PurgeContext } from "./decide-purge.ts";

export interface DataInput {
  /** From a synced cache; missing objects are confirmed as deleted (see absences.ts). */
  readonly objects: ProjectObjects;
  /** As they were seen last, of those that have gone: theirs may differ from what was published. */
  readonly deleted?: readonly CustomResource[];
  readonly publishedInventory?: DataInventory;
  /** What is published; data of it that no inventory names are taken for this namespace's. */
  readonly publishedConfig?: CompiledProject;
  /** UID of the namespace; absent when there is none any more. */
  readonly namespaceUid?: string;
  /** The disaster-recovery switch: adopt whatever is found. */
  readonly adopt: boolean;
  /** Ids of purges that have been ordered, of orderedPurges. */
  readonly ordered: ReadonlySet<string>;
}

export interface DataEvaluation {
  readonly inventory?: DataInventory;
  /** Data of another namespace are there: nothing may be served, compile says RetainedDataFound. */
  readonly foreignData: boolean;
  /** `resource:<name>`, `rootkey:<name>`: compile serves nothing there. */
  readonly openPurges: ReadonlySet<string>;
  /** True when data of an earlier namespace were taken over just now. */
  readonly adopted: boolean;
}

/** Before compile. */
export function evaluateData(input: DataInput): DataEvaluation {
  const standing = completeInventory(input);
  if (standing === undefined) return { foreignData: false, openPurges: new Set(), adopted: false };
  const adopted = mayAdopt(input) && standing.entries.some((entry) => isForeign(entry, input));
  const own = adopted ? adopt(standing, input) : standing;
  const foreignData = own.entries.some((entry) => isForeign(entry, input));
  const inventory = withDeletedProjects(foreignData ? own : decidePurges(own, input), input);
  return { inventory, foreignData, openPurges: openPurges(inventory), adopted };
}

/**
 * After compile: what to store with the configuration, or, without one, with its withdrawal.
 * Undefined = nothing is stored any more. Throws when the configuration serves what is to be
 * deleted: it was compiled without the evaluation.
 */
export function planData(
  { inventory, openPurges: open, foreignData }: DataEvaluation,
  {
    objects,
    config,
    namespaceUid,
  }: Pick<DataInput, "objects" | "namespaceUid"> & { readonly config?: CompiledProject },
): DataInventory | undefined {
  const { project } = objects;
  if (config === undefined) return inventory === undefined || isEmpty(inventory) ? undefined : sorted(inventory);
  if (foreignData || namespaceUid === undefined || project === undefined) {
    throw new Error("A configuration was compiled that may not be served");
  }
  const before = new Map((inventory?.entries ?? []).map((entry) => [entryKeyOf(entry), entry]));
  const served = servedEntries(config, objects, { namespaceUid, before });
  const clash = [...served.keys()].find((entryKey) => open.has(entryKey));
  if (clash !== undefined) throw new Error(`The configuration serves ${clash}, whose data are to be deleted`);
  const retained = [...before.values()].filter((entry) => !served.has(entryKeyOf(entry)));
  return sorted({
    policy: project.spec.deletionPolicy,
    projectUid: project.metadata.uid,
    entries: [...retained, ...served.values()],
    ...(inventory?.deletedProjects !== undefined && { deletedProjects: inventory.deletedProjects }),
    ...(inventory?.copied !== undefined && { copied: inventory.copied }),
  });
}

/**
 * The configuration with what counts for its quota without being served: what was retained of
 * objects that went, and what is to be purged. Else deleting a resource and making another one
 * would give the whole quota again.
 */
export function withUnserved(config: CompiledProject, inventory: DataInventory | undefined): CompiledProject {
  const { unserved: _, ...project } = config.project;
  const served = new Set(storingEntries(config).map(entryKeyOf));
  const entries = project.limits.quota === undefined ? [] : (inventory?.entries ?? []);
  const unserved = entries
    .filter((entry) => !served.has(entryKeyOf(entry)))
    .map(({ what, name, purgeFromRevision }) => ({
      what,
      name,
      ...(purgeFromRevision !== undefined && { isPurged: true as const }),
    }))
    .sort((a, b) => (entryKeyOf(a) < entryKeyOf(b) ? -1 : 1));
  return { ...config, project: { ...project, ...(unserved.length > 0 && { unserved }) } };
}

/** True of an inventory that says nothing of anything stored. */
export function isEmpty({ entries, deletedProjects = [] }: DataInventory): boolean {
  return entries.length === 0 && deletedProjects.length === 0;
}

/** Places whose data are to be deleted, and are not yet. */
export function openPurges(inventory: DataInventory | undefined): ReadonlySet<string> {
  const pending = (inventory?.entries ?? []).filter((entry) => entry.purgeFromRevision !== undefined);
  return new Set(pending.map(entryKeyOf));
}

export function entryKeyOf({ what, name }: Pick<DataEntry, "what" | "name">): string {
  return `${what}:${name}`;
}

function decidePurges(inventory: DataInventory, input: DataInput): DataInventory {
  const { objects, deleted = [], ordered } = input;
  const { project } = objects;
  // One of the same name that was recreated is another: the one that was published has gone.
  const same = project?.metadata.uid === inventory.projectUid ? project : undefined;
  const context: PurgeContext = {
    project: same,
    projectPolicy: (same ?? lastSeenProject(inventory, input))?.spec.deletionPolicy ?? inventory.policy,
    recordedPolicy: input.publishedInventory === undefined ? undefined : inventory.policy,
    projectUid: inventory.projectUid,
    objectOf: objectsByUid(objects),
    goneOf: byUid(deleted.filter(isDataObject)),
    isOrdered: (entry) => ordered.has(purgeId(entry)),
  };
  const entries = inventory.entries.map((entry) => decidePurge(entry, context));
  // A Project's deletion is applied once. A child that later drops its own Retain is unaffected.
  // Until then, the policy of the present spec is recorded, also of a Project that is no longer
  // served.
  const policy = same === undefined ? "Retain" : same.spec.deletionPolicy;
  const { copied: _copied, ...others } = inventory;
  // What was copied goes with its Project; the next one of the name copies anew.
  const isGoing = entries.some(({ purgeCause }) => purgeCause === inventory.projectUid);
  return { ...(isGoing ? others : inventory), policy, entries };
}

function withDeletedProjects(
  { deletedProjects: recorded = [], ...inventory }: DataInventory,
  input: DataInput,
): DataInventory {
  const { objects, publishedConfig, ordered } = input;
  const now = deletedProjects({ recorded, project: objects.project, publishedConfig, ordered });
  return now.length === 0 ? inventory : { ...inventory, deletedProjects: now };
}

/**
 * The Project whose deletion is to be applied now, as it was last seen. Of one that is withdrawn,
 * it was applied before.
 */
function lastSeenProject(
  { projectUid }: DataInventory,
  { deleted = [], publishedConfig }: DataInput,
): Project | undefined {
  if (publishedConfig?.project.uid !== projectUid) return undefined;
  return deleted.filter((object) => object.kind === "Project").find(({ metadata }) => metadata.uid === projectUid);
}

function objectsByUid({ resources, rootKeys }: ProjectObjects): PurgeContext["objectOf"] {
  return byUid([...resources, ...rootKeys]);
}

function byUid(objects: readonly DataObject[]): PurgeContext["objectOf"] {
  const found = new Map(objects.map((object) => [object.metadata.uid, object]));
  return (uid) => found.get(uid);
}

// ------------------------------------------------------------------- data of an earlier namespace

/**
 * Data that are to be purged belong to no object any more: the next object of the name waits until
 * they are deleted.
 */
function isForeign(entry: DataEntry, { namespaceUid }: DataInput): boolean {
  return namespaceUid !== undefined && entry.namespaceUid !== namespaceUid && entry.purgeFromRevision === undefined;
}

/**
 * A suspended or forbidden Project takes nothing over. Else a permission that has ended would still
 * work later.
 */
function mayAdopt({ objects: { project, mayAdopt: isAllowed, notAllowed }, adopt: always }: DataInput): boolean {
  if (project === undefined) return false;
  if (always) return true;
  const { annotations, uid } = project.metadata;
  const mayBeServed = !project.spec.suspend && !notAllowed?.has(uid);
  return mayBeServed && isAllowed === true && annotations?.[adoptAnnotation] === "true";
}

/**
 * The objects of the earlier namespace did not delete anything by going: theirs become the present
 * Project's.
 */
function adopt(inventory: DataInventory, input: DataInput): DataInventory {
  const { namespaceUid } = input;
  const project = input.objects.project as Project;
  const entries = inventory.entries.map((entry): DataEntry => {
    if (namespaceUid === undefined || !isForeign(entry, input)) return entry;
    return { ...entry, namespaceUid, retained: true };
  });
  return { ...inventory, policy: project.spec.deletionPolicy, projectUid: project.metadata.uid, entries };
}

// --------------------------------------------------------------------------------- what is served

/**
 * The inventory, with entries for what is published and in no inventory, as where a person removed
 * one that could not be read.
 */
function completeInventory({
  publishedInventory,
  publishedConfig,
  namespaceUid,
}: DataInput): DataInventory | undefined {
  if (publishedConfig === undefined || namespaceUid === undefined) return publishedInventory;
  const recorded = new Set(publishedInventory?.entries.map(entryKeyOf));
  const missing = storingEntries(publishedConfig)
    .filter((part) => !recorded.has(entryKeyOf(part)))
    .map((part): DataEntry => ({ ...part, namespaceUid }));
  const projectUid = publishedConfig.project.uid;
  return {
    policy: "Retain",
    projectUid,
    ...publishedInventory,
    entries: [...(publishedInventory?.entries ?? []), ...missing],
  };
}

function servedEntries(
  config: CompiledProject,
  objects: ProjectObjects,
  { namespaceUid, before }: { readonly namespaceUid: string; readonly before: ReadonlyMap<string, DataEntry> },
): ReadonlyMap<string, DataEntry> {
  const objectOf = objectsByUid(objects);
  const entries = storingEntries(config).map((part): [string, DataEntry] => {
    const policy = objectOf(part.uid)?.spec.deletionPolicy;
    const startedEmpty = startedEmptyOf(part.uid, before.get(entryKeyOf(part)));
    const entry = {
      ...part,
      namespaceUid,
      ...(startedEmpty && { startedEmpty }),
      ...(policy !== undefined && { policy }),
    };
    return [entryKeyOf(part), entry];
  });
  return new Map(entries);
}

/**
 * True of an object that found no entry of its name; it stays so while the same object is served.
 */
function startedEmptyOf(uid: string, before: DataEntry | undefined): true | undefined {
  if (before === undefined) return true;
  return before.uid === uid ? before.startedEmpty : undefined;
}

/** What of the configuration stores data. */
export function storingEntries({
  resources,
  rootKeys,
}: CompiledProject): readonly Pick<DataEntry, "what" | "name" | "uid">[] {
  return [
    ...[...resources.values()].map(({ name, uid }) => ({ what: "resource" as const, name, uid })),
    ...[...rootKeys.values()].map(({ key, uid }) => ({ what: "rootkey" as const, name: key, uid })),
  ];
}

/** Entries in a fixed order, by which equal inventories are known as equal. */
function sorted(inventory: DataInventory): DataInventory {
  return { ...inventory, entries: [...inventory.entries].sort((a, b) => (entryKeyOf(a) < entryKeyOf(b) ? -1 : 1)) };
}

/**
 * Beyond it the earliest are left to expire: without a replica that purges there is none that opens
 * sessions.
 */
const maxDeletedProjects = 100;

interface DeletedProjectsInput {
  readonly recorded: readonly DeletedProject[];
  readonly project: Project | undefined;
  /** What is published now. */
  readonly publishedConfig?: CompiledProject | undefined;
  /** Ids of purges that have been ordered. */
  readonly ordered: ReadonlySet<string>;
}

export function deletedProjects({
  recorded,
  project,
  publishedConfig,
  ordered,
}: DeletedProjectsInput): readonly DeletedProject[] {
  const live = project?.metadata.deletionTimestamp === undefined ? project?.metadata.uid : undefined;
  // A Project that comes back as itself keeps its sessions if it comes in time.
  const retained = recorded.filter((each) => each.uid !== live || ordered.has(purgeId(each)));
  const served = publishedConfig?.project.uid;
  if (served === undefined || served === live || retained.some(({ uid }) => uid === served)) return retained;
  return [...retained, { uid: served, purgeFromRevision: 0 }].slice(-maxDeletedProjects);
}
