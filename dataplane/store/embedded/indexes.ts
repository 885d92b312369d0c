// Declares indexes, and builds them by adding existing objects, some at a time. One process has the
// database, so building is never `busy`.

import type { IndexState, ObjectIndexes, StoreIndex } from "../ports/indexes.ts";
import type { CollectionRef } from "../ports/refs.ts";
import type { Ordering } from "./collections.ts";
import type { ObjectDeps } from "./objects.ts";

/** One call's work: some milliseconds. */
const bounds = { objects: 200, characters: 256 * 1024 };

export function createIndexes({ transactions, collections, entries }: ObjectDeps): ObjectIndexes {
  function statesOf(ref: CollectionRef): readonly IndexState[] {
    return (collections.find(ref)?.indexes ?? []).map(({ field, state }) => ({ field, state }));
  }

  function declare(ref: CollectionRef, fields: readonly StoreIndex[], revision: number): readonly IndexState[] {
    const newest = collections.find(ref)?.revision;
    if (newest === undefined || revision > newest) collections.declare(ref, revision, fields);
    return statesOf(ref);
  }

  /** Takes the indexes that are furthest behind on by one batch. */
  function build(ref: CollectionRef): "done" | "more" {
    const collection = collections.find(ref);
    if (collection === undefined) return "done";
    const building = collection.indexes.filter(({ state }) => state === "building");
    const [first, ...others] = furthestBehind(building);
    if (first === undefined) return "done";
    const behind = [first, ...others];
    const { objects, next } = entries.batch(collection, collection.everyone, first.builtTo, bounds);
    for (const object of objects) entries.addTo(behind, collection, object);
    for (const index of behind) collections.advance(ref, index, next);
    return next === undefined && behind.length === building.length ? "done" : "more";
  }

  return {
    declareIndexes: (ref, fields, revision) => transactions.write(() => declare(ref, fields, revision)),
    buildIndexes: (ref) => transactions.write(() => build(ref)),
    // There is no other writer, and its configuration is the newest.
    refuseOlderWriters: () => Promise.resolve(),
    indexes: (ref) => transactions.read(() => statesOf(ref)),
  };
}

/** Those that stand at the smallest id: they share one reading of the objects. */
function furthestBehind(building: readonly Ordering[]): readonly Ordering[] {
  const least = building.map(({ builtTo }) => builtTo).sort()[0];
  return building.filter(({ builtTo }) => builtTo === least);
}
