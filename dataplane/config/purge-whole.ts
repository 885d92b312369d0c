// Purges a collection or a root key's value to the end, whoever else does so meanwhile. Each step takes only what was stored when the
// purge was last found to be in order.

import type { CollectionRef, DocumentRef, DocumentStore, ObjectStore } from "../store/port.ts";

export type PurgedCollections = Pick<ObjectStore, "collectionIdentity" | "purge">;
export type PurgedDocuments = Pick<DocumentStore, "documentIdentity" | "purgeDocument">;

/** Asked before every step; where it says no, purging ends. */
export type GoesOn = () => Promise<boolean>;

const always: GoesOn = () => Promise.resolve(true);
const objectsPerStep = 200;

/** False when it was ended before nothing was left. */
export function purgeCollection(
  store: PurgedCollections,
  collection: CollectionRef,
  goesOn: GoesOn = always,
): Promise<boolean> {
  const identity = () => store.collectionIdentity(collection);
  return purgeAll(identity, (named) => store.purge(collection, named, objectsPerStep), goesOn);
}

/** False when it was ended before nothing was left. */
export function purgeWholeDocument(
  store: PurgedDocuments,
  document: DocumentRef,
  goesOn: GoesOn = always,
): Promise<boolean> {
  const identity = () => store.documentIdentity(document);
  return purgeAll(identity, (named) => store.purgeDocument(document, named), goesOn);
}

async function purgeAll(
  identityOf: () => Promise<string | undefined>,
  step: (identity: string) => Promise<string>,
  goesOn: GoesOn,
): Promise<boolean> {
  for (;;) {
    // Named before the question: were it the other way round, what is stored after a purge by others could be named here.
    const identity = await identityOf();
    if (!(await goesOn())) return false;
    if (identity === undefined || (await step(identity)) === "done") return true;
  }
}
