// The promises of objects about unique rules: which objects an index of a rule has, while it is
// built and as objects change, that lists don't know it, and which writes are refused by it.

import { describe, expect, it } from "vitest";
import type { UniqueRule } from "../../../core/config/types.ts";
import { uniqueIndex, uniqueValue } from "../../../dataplane/store/entry-values.ts";
import type { Store } from "../../../dataplane/store/port.ts";
import type { NewObject } from "../../../dataplane/store/ports/objects.ts";
import type { CollectionRef } from "../../../dataplane/store/ports/refs.ts";
import { expectIndexesExact } from "../../support/redis/check-integrity.ts";
import { buildAll } from "../../support/store/build-all.ts";
import { idOf, objectOf } from "../../support/store/stored-objects.ts";
import { freshCollection, type MakeStore, type StoreUnderTest, twoReplicas, useStore } from "./fixture.ts";

const plenty = 1_000_000;
const a = { name: "a", path: ["a"] };
const b = { name: "b", path: ["b"] };

export function describeUnique(name: string, make: MakeStore): void {
  describe(`${name}: indexes of unique rules`, () => describeEntries(useStore(make)));
  describe(`${name}: unique values`, () => describeWrites(useStore(make)));
}

function describeWrites(subject: () => StoreUnderTest): void {
  const rule: UniqueRule = { fields: [a], ignoreCase: true };
  const other: UniqueRule = {
    fields: [b],
    ignoreCase: true,
    per: "Owner",
    where: [{ field: { name: "c", path: ["c"] }, value: false }],
  };
  const rules = [b, uniqueIndex(other), a, uniqueIndex(rule)];
  const created = { outcome: "created" };
  const replaced = { outcome: "replaced" };
  const refusedBy = (broken: UniqueRule) => ({ outcome: "not_unique", rule: broken });

  it("refuses a create and a replace whose values another object has, and writes nothing of them", async () => {
    const [store, second] = await twoReplicas(subject());
    const collection = freshCollection();
    await store.declareIndexes(collection, rules, 1);
    expect(await store.create(collection, objectOf(1, { a: '"Straße"' }), plenty)).toMatchObject(created);
    const record = { key: "k", text: "t", seconds: 60 };
    const refused = { ...objectOf(2, { a: '"STRAßE"' }), record };
    expect(await second.create(collection, refused, plenty)).toEqual(refusedBy(rule));
    expect(await store.idempotencyRecord(collection, "k")).toBeUndefined();
    expect(await second.create(collection, objectOf(2, { a: "1" }), plenty)).toMatchObject(created);
    const toTaken = await store.replace(collection, objectOf(2, { a: '"straße"' }), objectOf(2, { a: "1" }));
    expect(toTaken).toEqual(refusedBy(rule));
    expect((await store.read(collection, idOf(2), {}))?.text).toBe(objectOf(2, { a: "1" }).text);
    expect(await store.replace(collection, objectOf(2, { a: "1.0" }), objectOf(2, { a: "1" }))).toMatchObject({
      outcome: "replaced",
    });
    expect(await store.count(collection, {})).toBe(2);
    await expectIndexesExact(store, collection, ["user:alice"]);
  });

  it("gives a value free when its object goes, changes or is purged", async () => {
    const { store } = subject();
    const collection = freshCollection();
    await store.declareIndexes(collection, rules, 1);
    const [one, another] = [objectOf(1, { a: "1" }), objectOf(2, { a: "1" })];
    await store.create(collection, one, plenty);
    await store.replace(collection, objectOf(1, { a: "2" }), one);
    expect(await store.create(collection, another, plenty)).toMatchObject(created);
    await store.remove(collection, another.id, {});
    expect(await store.create(collection, objectOf(3, { a: "1" }), plenty)).toMatchObject(created);
    const identity = (await store.collectionIdentity(collection)) ?? "";
    expect(await store.purge(collection, identity, 10)).toBe("done");
    await store.declareIndexes(collection, rules, 2);
    expect(await store.create(collection, objectOf(4, { a: "1" }), plenty)).toMatchObject(created);
  });

  it("compares per Owner and within where, also as an object comes within it", async () => {
    const { store } = subject();
    const collection = freshCollection();
    await store.declareIndexes(collection, rules, 1);
    const at = (n: number, c: string, owner: string) => objectOf(n, { b: '"x"', c }, owner);
    expect(await store.create(collection, at(1, "false", "user:u1"), plenty)).toMatchObject(created);
    expect(await store.create(collection, at(2, "false", "user:u2"), plenty)).toMatchObject(created);
    expect(await store.create(collection, at(3, "false", "user:u1"), plenty)).toEqual(refusedBy(other));
    const archived = at(4, "true", "user:u1");
    expect(await store.create(collection, archived, plenty)).toMatchObject(created);
    expect(await store.replace(collection, at(4, "false", "user:u1"), archived)).toEqual(refusedBy(other));
  });

  it("compares per Owner names of owners as they are, in their case and at any length", async () => {
    const { store } = subject();
    const collection = freshCollection();
    await store.declareIndexes(collection, rules, 1);
    const owners = ["external:corp/ada", "external:corp/Ada", `external:${"i".repeat(253)}/${"u".repeat(256)}`];
    for (const [at, owner] of owners.entries()) {
      const make = (n: number, text: string) =>
        store.create(collection, objectOf(2 * at + n, { b: text, c: "false" }, owner), plenty);
      expect(await make(1, '"x"')).toMatchObject(created);
      expect(await make(2, '"X"')).toEqual(refusedBy(other));
    }
  });

  it("lets one of many creates that come at once have a value", async () => {
    const [store, second] = await twoReplicas(subject());
    const collection = freshCollection();
    await store.declareIndexes(collection, rules, 1);
    const made = await Promise.all(
      Array.from({ length: 64 }, (_, n) =>
        (n % 2 === 0 ? store : second).create(collection, objectOf(n, { a: String(n % 3), b: String(n) }), plenty),
      ),
    );
    expect(
      made
        .map(({ outcome }) => outcome)
        .sort()
        .slice(0, 4),
    ).toEqual([...Array(3).fill("created"), "not_unique"]);
    expect(await store.count(collection, {})).toBe(3);
    await expectIndexesExact(store, collection, ["user:alice"]);
  });

  it("leaves objects that were the same before, and their edits, and checks what is written since", async () => {
    const { store } = subject();
    const collection = freshCollection();
    const twins = [objectOf(1, { a: "1" }), objectOf(2, { a: "1" })] as const;
    for (const twin of twins) await store.create(collection, twin, plenty);
    await store.declareIndexes(collection, rules, 1);
    expect(await store.create(collection, objectOf(3, { a: "3" }), plenty)).toMatchObject(created);
    expect(await store.create(collection, objectOf(4, { a: "3" }), plenty)).toEqual(refusedBy(rule));
    const edited = (n: number, b: string) => objectOf(n, { a: "1", b });
    for (const n of [1, 2]) {
      expect(await store.replace(collection, edited(n, "5"), twins[n - 1] as NewObject)).toMatchObject(replaced);
    }
    // They were written since, so that the rule knows them before it is built.
    expect(await store.create(collection, objectOf(5, { a: "1" }), plenty)).toEqual(refusedBy(rule));
    await buildAll(store, collection);
    expect(await store.replace(collection, edited(1, "6"), edited(1, "5"))).toMatchObject(replaced);
    const gone = objectOf(2, { a: "2" });
    expect(await store.replace(collection, gone, edited(2, "5"))).toMatchObject(replaced);
    expect(await store.replace(collection, twins[1], gone)).toEqual(refusedBy(rule));
    await expectIndexesExact(store, collection, ["user:alice"]);
  });
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
  const found = await store.candidates(collection, {}, [{ index: index.name, field: index, equals }], 10);
  if (found.outcome !== "found") throw new Error(`The rule is ${found.outcome}`);
  return found.ids;
}
