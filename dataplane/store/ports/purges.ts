// Removes what a collection, a root key or a Project has, in steps that others may share. port.ts
// says what a call may throw.

import type { ProjectRef } from "../../../core/config/types.ts";
import type { CollectionRef, DocumentRef } from "./refs.ts";

/** `done`: nothing is left, indexes included; `gone`: what was named no longer exists. */
export type PurgeStep = "done" | "more" | "gone";

export interface CollectionPurges {
  /**
   * Names what the collection has now, for its purge; undefined when it is empty. Data stored after
   * a purge have another name.
   */
  collectionIdentity(collection: CollectionRef): Promise<string | undefined>;
  /** Removes up to `batch` objects with their entries, while the collection has this name. */
  purge(collection: CollectionRef, identity: string, batch: number): Promise<PurgeStep>;
}

export interface DocumentPurges {
  /** Names what is stored now, for its purge; later data have another. Undefined when empty. */
  documentIdentity(document: DocumentRef): Promise<string | undefined>;
  /** Removes a document that still is the one that was named so. */
  purgeDocument(document: DocumentRef, identity: string): Promise<Exclude<PurgeStep, "more">>;
}

export interface SessionPurges {
  /**
   * Reads the next few sessions after the cursor, and removes those of the Project with this UID.
   * Returns the next cursor, undefined at the end; "" begins.
   */
  purgeSessions(project: ProjectRef, projectUid: string, cursor: string): Promise<string | undefined>;
}
