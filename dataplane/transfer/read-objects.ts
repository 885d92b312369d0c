// Reads all objects of a collection for whoever copies them elsewhere: in order of their ids, in
// batches that fit into memory, each read when it is asked for. An object that is there all the
// time comes once, as it was at some moment of the reading; what has expired does not come. Throws
// as the store does: then reading goes on behind the last object that came.

import type { ObjectLists } from "../store/ports/lists.ts";
import type { CollectionRef, Owner } from "../store/ports/refs.ts";

export interface ReadObjects {
  readonly collection: CollectionRef;
  /** Whose objects; absent = all. */
  readonly owner?: Owner | undefined;
  /** Id of the object to go on behind, which may be gone; absent = from the start. */
  readonly after?: string | undefined;
}

/** Stored texts, of at most some MiB together; `idIn` and `ownerIn` say more of each. */
export async function* readObjects(
  store: Pick<ObjectLists, "scan">,
  { collection, owner, after }: ReadObjects,
): AsyncGenerator<readonly string[]> {
  const visible = owner === undefined ? {} : { owner };
  for await (const texts of store.scan(collection, visible, after === undefined ? {} : { after })) {
    if (texts.length > 0) yield texts;
  }
}
