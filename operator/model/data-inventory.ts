// What is known of a project's stored data while its configuration comes and goes: which
// collections and documents there may be, of which object and namespace, and what becomes of them.
// Stored in Redis beside the configuration, written with it in one step, so that no crash forgets a
// purge or does one that was not ordered.

import type { CopyResult } from "../../core/config/copy-order.ts";
import { childKinds, type DataKind, dataKinds } from "./kinds.ts";
import type { DeletionPolicy } from "./objects.ts";

export interface DataEntry {
  readonly what: "resource" | "rootkey";
  /** Resource name or root key. */
  readonly name: string;
  /** UID of the ApiResource or RootKey that served it last. */
  readonly uid: string;
  /** UID of the namespace that it was served from. */
  readonly namespaceUid: string;
  /**
   * No data were retained under the name when this object was first served. Absent = it took up
   * retained data.
   */
  readonly startedEmpty?: true;
  /** The object's own policy; absent = it inherits its Project's. */
  readonly policy?: DeletionPolicy;
  /**
   * Its object has gone and its data were retained: only the Project's own deletion still purges
   * them.
   */
  readonly retained?: true;
  /**
   * When it ceased to be served and was retained, RFC 3339; absent while it is served, and until a
   * reconcile has found it retained.
   */
  readonly retainedAt?: string;
  /**
   * An object of this namespace still claims the name. The time of being retained starts when the
   * last such object goes.
   */
  readonly guarded?: true;
  /**
   * Set once its data are to be purged: the revision from which on no replica serves it; 0 = the
   * one being written.
   */
  readonly purgeFromRevision?: number;
  /**
   * With `purgeFromRevision`: UID of the object or Project whose deletion purges it, which can be
   * released while that one is there; or which annotation asked for it
   * (stored-data/deletion-requests.ts), and then it is final.
   */
  readonly purgeCause?: string;
}

/** A deleted Project that had this name, and whose sessions are to be purged. */
export interface DeletedProject {
  readonly uid: string;
  /** The revision from which on no replica serves it; 0 = the one being written. */
  readonly purgeFromRevision: number;
}

export interface DataInventory {
  /** The Project's own policy when it was seen last; Retain once its deletion has been applied. */
  readonly policy: DeletionPolicy;
  /** UID of the Project that was published last. */
  readonly projectUid: string;
  readonly entries: readonly DataEntry[];
  /** Absent = none. */
  readonly deletedProjects?: readonly DeletedProject[];
  /**
   * What was copied from another Project, as one of this name declared it: these data are not
   * copied a second time. Absent = nothing was, or it is not complete.
   */
  readonly copied?: CopyResult;
}

/** Kind of the object that serves it, or did. */
export function kindOf({ what }: Pick<DataEntry, "what">): DataKind {
  return dataKinds.find((kind) => childKinds[kind].data === what) ?? "ApiResource";
}

/**
 * Whether anything is to be purged, so that its project is looked after although nothing else is
 * there of it.
 */
export function awaitsPurge({ entries, deletedProjects = [] }: DataInventory): boolean {
  return deletedProjects.length > 0 || entries.some(({ purgeFromRevision }) => purgeFromRevision !== undefined);
}

/**
 * Whether some entry depended on an object at the last reconcile: that object may have been deleted
 * while no operator ran.
 */
export function mayDependOnObject({ entries }: DataInventory): boolean {
  return entries.some(
    ({ purgeFromRevision, retained, guarded }) =>
      purgeFromRevision === undefined && (retained !== true || guarded === true),
  );
}

/**
 * Whether its data are retained without being served: of an object that has gone, or of a Project
 * that is not there.
 */
export function isRetained(entry: DataEntry, { hasProject }: { readonly hasProject: boolean }): boolean {
  if (entry.purgeFromRevision !== undefined) return false;
  return entry.retained === true || entry.retainedAt !== undefined || !hasProject;
}
