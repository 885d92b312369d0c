// Purges a collection, a root key's value or a Project's sessions to the end, also where other
// replicas do so meanwhile. Each step takes only what was stored when the purge was last found to
// be in order.

import type { ProjectRef } from "../../core/config/types.ts";
import type { CollectionPurges, DocumentPurges, SessionPurges } from "../store/ports/purges.ts";
import type { CollectionRef, DocumentRef } from "../store/ports/refs.ts";

/** Asked before every step; where it says no, purging ends. */
export type MayContinue = () => Promise<boolean>;

const always: MayContinue = () => Promise.resolve(true);
const objectsPerStep = 200;

/** False when it was ended before nothing was left. */
export function purgeCollection(
  store: CollectionPurges,
  collection: CollectionRef,
  mayContinue: MayContinue = always,
): Promise<boolean> {
  const identity = () => store.collectionIdentity(collection);
  return purgeAll(identity, (named) => store.purge(collection, named, objectsPerStep), mayContinue);
}

/** False when it was ended before nothing was left. */
export function purgeDocument(
  store: DocumentPurges,
  document: DocumentRef,
  mayContinue: MayContinue = always,
): Promise<boolean> {
  const identity = () => store.documentIdentity(document);
  return purgeAll(identity, (named) => store.purgeDocument(document, named), mayContinue);
}

/** Each session names its Project, so no identity is needed. False when ended before the end. */
export async function purgeProjectSessions(
  store: SessionPurges,
  { project, projectUid }: { readonly project: ProjectRef; readonly projectUid: string },
  mayContinue: MayContinue = always,
): Promise<boolean> {
  for (let cursor: string | undefined = ""; cursor !== undefined; ) {
    if (!(await mayContinue())) return false;
    cursor = await store.purgeSessions(project, projectUid, cursor);
  }
  return true;
}

async function purgeAll(
  identityOf: () => Promise<string | undefined>,
  step: (identity: string) => Promise<string>,
  mayContinue: MayContinue,
): Promise<boolean> {
  for (;;) {
    // Read before `mayContinue` is called. The other way round, another replica could end the purge
    // in between, and this would be the identity of newer data.
    const identity = await identityOf();
    if (!(await mayContinue())) return false;
    if (identity === undefined || (await step(identity)) === "done") return true;
  }
}
