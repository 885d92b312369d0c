// Builds objects in their served form, and reads fields back, for tests of stores.

import { secondOf } from "../../../dataplane/objects/object-ids.ts";
import type { NewObject, ObjectWrites } from "../../../dataplane/store/ports/objects.ts";
import type { CollectionRef } from "../../../dataplane/store/ports/refs.ts";

/** The n-th of ids that sort as they are numbered, in the form of a UUIDv7. */
export function idOf(n: number): string {
  const hex = n.toString(16).padStart(12, "0");
  return `0199b1c0-${hex.slice(0, 4)}-7000-8000-${hex}`;
}

/**
 * The n-th object of a test; `members` are JSON texts by name, stored exactly as they are written.
 */
export function objectOf(n: number, members: Readonly<Record<string, string>>, owner = "user:alice"): NewObject {
  const id = idOf(n);
  return { id, owner, text: servedText(id, Object.entries(members), owner) };
}

const createdAtOnce = 64;

/**
 * Creates `objectAt(0)` to `objectAt(count - 1)`, some at a time, which are as many waits fewer.
 */
export async function fillCollection(
  store: Pick<ObjectWrites, "create">,
  collection: CollectionRef,
  count: number,
  objectAt: (n: number) => NewObject,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < count) {
      const n = next++;
      const { outcome } = await store.create(collection, objectAt(n), count);
      if (outcome !== "created") throw new Error(`Object ${n} of ${count}: ${outcome}`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(count, createdAtOnce) }, lane));
}

/**
 * As the pipeline writes it: `id` first, the data, `_metadata` last. Entries, because an object
 * would move digit keys.
 */
export function servedText(id: string, members: readonly (readonly [string, string])[], owner: string): string {
  const colon = owner.indexOf(":");
  const metadata = `{"created":${secondOf(id)},"creator":${JSON.stringify(owner.slice(colon + 1))},"creator_type":${JSON.stringify(owner.slice(0, colon))}}`;
  const data = members.map(([name, text]) => `${JSON.stringify(name)}:${text},`).join("");
  return `{"id":${JSON.stringify(id)},${data}"_metadata":${metadata}}`;
}

/** The ids of served texts, which a page's order is compared by. */
export function idsIn(texts: readonly string[]): string[] {
  return texts.map((text) => (JSON.parse(text) as { readonly id: string }).id);
}

/** The same elements in another order, the same for the same seed. */
export function shuffled<T>(items: readonly T[], seed = 1): T[] {
  let state = seed >>> 0;
  return items
    .map((item) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return { item, rank: state };
    })
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
