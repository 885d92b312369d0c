// Removes what a collection, a root key or a Project holds, in steps that others may share. port.ts says what a call may throw.

import type { ProjectRef } from "../../../core/config/types.ts";
import type { CollectionRef, DocumentRef } from "./refs.ts";

/** `done`: nothing is left, declared indexes included; `gone`: what was named is not there any more, and others' data may be. */
export type PurgeStep = "done" | "more" | "gone";

export interface CollectionPurges {
  /** Names what the collection holds now, for its purge; undefined when it holds nothing. What is stored after a purge has another name. */
  collectionIdentity(collection: CollectionRef): Promise<string | undefined>;
  /** Removes up to `batch` objects, with their index entries, of a collection that still is the one that was named so. */
  purge(collection: CollectionRef, identity: string, batch: number): Promise<PurgeStep>;
}

export interface DocumentPurges {
  /** Names what is stored now, for its purge; undefined when nothing is. What is stored after a purge has another name. */
  documentIdentity(document: DocumentRef): Promise<string | undefined>;
  /** Removes a document that still is the one that was named so. */
  purgeDocument(document: DocumentRef, identity: string): Promise<Exclude<PurgeStep, "more">>;
}

export interface SessionPurges {
  /**
   * Looks at the next few sessions after the cursor, and removes those of the Project with this UID. The next cursor, undefined at the end;
   * "" begins.
   */
  purgeSessions(project: ProjectRef, projectUid: string, cursor: string): Promise<string | undefined>;
}
