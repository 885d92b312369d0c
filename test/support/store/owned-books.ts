// Books of three owners with two indexes, for tests of what Redis keeps of owners.

import type { Store } from "../../../dataplane/store/port.ts";
import type { NewObject } from "../../../dataplane/store/ports/objects.ts";
import { objectOf } from "./stored-objects.ts";

export const books = { project: { namespace: "ns", name: "shop" }, resource: "books" };
export const fields = ["a", "b"].map((name) => ({ name, path: [name] }));
export const owners = ["user:u0", "user:u1", "user:u2"];
/** Of a page with all of them. */
export const range = { offset: 0, limit: 1_000, descending: false };
/** So many objects that no limit is reached. */
export const plenty = 1_000_000;

export function objectAt(n: number, a = String(n % 7)): NewObject {
  return objectOf(n, { a, b: `"${n % 3}"` }, `user:u${n % 3}`);
}

export async function fill(by: Store, count: number, first = 0): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, n) => by.create(books, objectAt(first + n), plenty)));
}
