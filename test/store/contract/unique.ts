// The promises of objects about unique rules: which objects an index of a rule has, while it is built
// and as objects change, and that lists don't know it.

import { describe, expect, it } from "vitest";
import type { UniqueRule } from "../../../core/config/types.ts";
import { uniqueIndex, uniqueValue } from "../../../dataplane/store/entry-values.ts";
import type { Store } from "../../../dataplane/store/port.ts";
import type { CollectionRef } from "../../../dataplane/store/ports/refs.ts";
import { expectIndexesExact } from "../../support/redis/check-integrity.ts";
import { buildAll } from "../../support/store/build-all.ts";
import { idOf, objectOf } from "../../support/store/stored-objects.ts";
import { freshCollection, type MakeStore, type StoreUnderTest, useStore } from "./fixture.ts";

const plenty = 1_000_000;
const a = { name: "a", path: ["a"] };
const b = { name: "b", path: ["b"] };

export function describeUnique(name: string, make: MakeStore): void {
  describe(`${name}: indexes of unique rules`, () => describeEntries(useStore(make)));
}

function describeEntries(subject: () => StoreUnderTest): void {
  it("has the objects with all fields, within where, written before and after it was declared", async () => {
    const { store } = subject();
    const collection = freshCollection();
    const rule: UniqueRule = {
      fields: [a, b],
      ignoreCase: true,
      where: [{ field: { name: "c", path: ["c"] }, value: null }],
    };
    await store.create(collection, objectOf(1, { a: '"X"', b: "1" }), plenty);
    await store.create(collection, objectOf(2, { a: '"X"' }), plenty);
    await store.create(collection, objectOf(3, { a: '"X"', b: "3", c: "true" }), plenty);
    await store.declareIndexes(collection, [a, uniqueIndex(rule)], 1);
    await buildAll(store, collection);
    await store.create(collection, objectOf(4, { a: '"X"', b: "4", c: "null" }), plenty);
    await store.create(collection, objectOf(5, { a: "null", b: "5" }), plenty);
    await store.create(collection, objectOf(6, { a: '"X"', b: "[]" }), plenty);
    const idsWith = (b: string) => idsOf(store, collection, rule, { a: '"x"', b });
    expect([await idsWith("1.0"), await idsWith("3"), await idsWith("4")]).toEqual([[idOf(1)], [], [idOf(4)]]);
    await store.replace(collection, objectOf(4, { a: '"X"' }), objectOf(4, { a: '"X"', b: "4", c: "null" }));
    await store.replace(collection, objectOf(2, { a: '"X"', b: "2" }), objectOf(2, { a: '"X"' }));
    expect([await idsWith("4"), await idsWith("2")]).toEqual([[], [idOf(2)]]);
    await expectIndexesExact(store, collection, ["user:alice"]);
    await store.remove(collection, idOf(2), {});
    expect(await idsWith("2")).toEqual([]);
  });

  it("distinguishes owners per Owner, and keeps its entries when owners' entries go and come", async () => {
    const { store } = subject();
    const collection = freshCollection();
    const rule: UniqueRule = { fields: [a], per: "Owner" };
    await store.declareIndexes(collection, [b, uniqueIndex(rule)], 1, "kept");
    await store.create(collection, objectOf(1, { a: "1" }, "user:u1"), plenty);
    await store.create(collection, objectOf(2, { a: "1" }, "user:u2"), plenty);
    const ofOwner = (creator: string) =>
      idsOf(store, collection, rule, { a: "1", _metadata: JSON.stringify({ creator, creator_type: "user" }) });
    for (const [owners, revision] of [
      ["left out", 2],
      ["kept", 3],
    ] as const) {
      await store.declareIndexes(collection, [b, uniqueIndex(rule)], revision, owners);
      await buildAll(store, collection);
      expect([await ofOwner("u1"), await ofOwner("u2"), await ofOwner("u3")]).toEqual([[idOf(1)], [idOf(2)], []]);
    }
    await expectIndexesExact(store, collection, ["user:u1", "user:u2"]);
  });

  it("is no index of a list of the same field, and built anew when the rule is another one", async () => {
    const { store } = subject();
    const collection = freshCollection();
    const rule: UniqueRule = { fields: [a] };
    await store.create(collection, objectOf(1, { a: '"X"' }), plenty);
    await store.declareIndexes(collection, [uniqueIndex(rule)], 1);
    await buildAll(store, collection);
    const page = { offset: 0, limit: 10, descending: false };
    expect(await store.pageByField(collection, {}, { index: "a", field: a }, page)).toEqual({ outcome: "not_ready" });
    const folding: UniqueRule = { ...rule, ignoreCase: true };
    const [state] = await store.declareIndexes(collection, [uniqueIndex(folding)], 2);
    expect(state).toEqual({ field: uniqueIndex(folding), state: "building" });
    await buildAll(store, collection);
    expect(await idsOf(store, collection, folding, { a: '"x"' })).toEqual([idOf(1)]);
  });
}

/** The ids of the objects with these values. */
async function idsOf(
  store: Store,
  collection: CollectionRef,
  rule: UniqueRule,
  members: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const equals = uniqueValue(rule, ([first = "", second]) =>
    second === undefined ? members[first] : JSON.stringify(JSON.parse(members[first] ?? "{}")[second]),
  );
  if (equals === undefined) throw new Error("These values count for none");
  const index = uniqueIndex(rule);
  const found = await store.candidates(collection, {}, { index: index.name, field: index, equals }, 10);
  if (found.outcome !== "found") throw new Error(`The rule is ${found.outcome}`);
  return found.ids;
}
