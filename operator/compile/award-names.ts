// Decides who holds a name that several objects claim: the published incumbent by UID, else the
// oldest, else the first by name. The others' statuses say who holds it.

import type { StoredMeta } from "../model/objects.ts";

export interface Claimant {
  readonly metadata: StoredMeta;
}

/**
 * The claimant of each name that holds it. `incumbent` answers the UID that holds a name in what is
 * published.
 */
export function awardNames<T extends Claimant>(
  claimants: readonly T[],
  nameOf: (claimant: T) => string,
  incumbent: (name: string) => string | undefined,
): ReadonlyMap<string, T> {
  const holders = new Map<string, T>();
  for (const claimant of [...claimants].sort(bySeniority)) {
    const name = nameOf(claimant);
    const holder = holders.get(name);
    if (holder === undefined || claimant.metadata.uid === incumbent(name)) holders.set(name, claimant);
  }
  return holders;
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
