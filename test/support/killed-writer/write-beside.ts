// Creates, replaces and removes objects of a collection one after the other while something else
// goes on with it.

import type { Store } from "../../../dataplane/store/port.ts";
import type { CollectionRef } from "../../../dataplane/store/ports/refs.ts";
import { idOf, objectOf } from "../store/stored-objects.ts";

export interface Beside {
  /** Number of the first object that this writer creates. */
  readonly first: number;
  /** How many objects are there, numbered from 0: some of them are changed, some removed. */
  readonly existing: number;
  readonly isOver: () => boolean;
}

/** Returns how many writes it made. */
export async function writeBeside(store: Store, collection: CollectionRef, beside: Beside): Promise<number> {
  let writes = 0;
  for (let n = 0; !beside.isOver(); n += 1) {
    const { first, existing } = beside;
    await store.create(collection, besideObject(first + n, n), 1e9);
    await change(store, collection, (n * 97 + first) % existing, `"changed ${n}"`);
    if (n % 3 === 0) await store.remove(collection, idOf(first + n), {});
    if (n % 5 === 0) await store.remove(collection, idOf((n * 89 + first) % existing), {});
    writes += 2;
  }
  return writes;
}

function besideObject(n: number, value: number) {
  return objectOf(n, { a: String(value % 101), b: `"beside ${value % 7}"` }, `user:u${n % 3}`);
}

/** Another writer may be quicker: then its change stands. */
async function change(store: Store, collection: CollectionRef, n: number, a: string): Promise<void> {
  const previous = await store.read(collection, idOf(n), {});
  if (previous === undefined) return;
  const text = previous.text.replace(/"a":(?:"[^"]*"|[^,]*),/, `"a":${a},`);
  await store.replace(collection, { id: idOf(n), owner: `user:u${n % 3}`, text }, previous);
}
