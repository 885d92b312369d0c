// Which of several objects came first: it has what only one of them, or only so many, can have.

import type { StoredMeta } from "./objects.ts";

export interface Claimant {
  readonly metadata: StoredMeta;
}

/** Oldest first, then by namespace and name, by code units. */
export function bySeniority(a: Claimant, b: Claimant): number {
  return (
    order(Date.parse(a.metadata.creationTimestamp), Date.parse(b.metadata.creationTimestamp)) ||
    order(a.metadata.namespace, b.metadata.namespace) ||
    order(a.metadata.name, b.metadata.name)
  );
}

function order<T extends string | number>(a: T, b: T): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
