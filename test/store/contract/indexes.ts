// The promises of objects about its set of indexes: declared by revision, built over existing
// objects while writes go on, dropped, taken up again, redefined.

import { describe, expect, it } from "vitest";
import type { IndexField } from "../../../core/config/types.ts";
import { WriteConflict } from "../../../core/errors/store-errors.ts";
import { secondOf } from "../../../dataplane/objects/object-ids.ts";
import { encodeSortValue } from "../../../dataplane/store/order.ts";
import type { Store } from "../../../dataplane/store/port.ts";
import type { NewObject } from "../../../dataplane/store/ports/objects.ts";
import type { CollectionRef } from "../../../dataplane/store/ports/refs.ts";
import { expectIndexesExact } from "../../support/redis/check-integrity.ts";
import { buildAll } from "../../support/store/build-all.ts";
import { idOf, idsIn, objectOf } from "../../support/store/stored-objects.ts";
import { freshCollection, type MakeStore, type StoreUnderTest, twoReplicas, useStore } from "./fixture.ts";

const plenty = 1_000_000;
type Subject = () => StoreUnderTest;

const a: IndexField = { name: "a", path: ["a"] };
const b: IndexField = { name: "b", path: ["b"] };
const nested: IndexField = { name: "n.m", path: ["n", "m"] };

export function describeIndexes(name: string, make: MakeStore): void {
  describe(`${name}: declared indexes`, () => describeDeclarations(useStore(make)));
  describe(`${name}: building indexes`, () => describeBuilding(useStore(make)));
}

function describeDeclarations(subject: Subject): void {
  it("has no index before one is declared", async () => {
    const { store } = subject();
    const collection = freshCollection();
    expect(await store.indexes(collection)).toEqual([]);
    await store.create(collection, objectOf(1, { a: "1" }), plenty);
    expect(await store.pageByField(collection, {}, { index: "a" }, all)).toEqual({ outcome: "not_ready" });
  });

  it("is ready at once when the collection is empty", async () => {
    const { store } = subject();
    const collection = freshCollection();
    expect(await states(store.declareIndexes(collection, [a, nested], 1))).toEqual({ a: "ready", "n.m": "ready" });
    expect(await states(store.indexes(collection))).toEqual({ a: "ready", "n.m": "ready" });
    expect(await store.pageByField(collection, {}, { index: "a" }, all)).toEqual({
      outcome: "page",
      count: 0,
      texts: [],
    });
    expect(await store.pageByField(collection, {}, { index: "b" }, all)).toEqual({ outcome: "not_ready" });
  });

  it("gives back the fields as they were declared", async () => {
    const { store } = subject();
    const collection = freshCollection();
    const unusual = [
      { name: "a.b", path: ["a.b"] },
      { name: "x.y", path: ["x", "y"] },
      { name: "__proto__", path: ["__proto__"] },
      { name: "a,x.y", path: ["a"], parts: [a, { name: "x.y", path: ["x", "y"] }] },
    ] satisfies readonly IndexField[];
    await store.declareIndexes(collection, unusual, 1);
    const declared = await store.indexes(collection);
    expect(declared.map(({ field }) => field)).toHaveLength(4);
    expect(declared.map(({ field }) => field)).toEqual(expect.arrayContaining(unusual));
  });

  it("leaves the indexes to the newest revision", async () => {
    const { store } = subject();
    const collection = freshCollection();
    await store.declareIndexes(collection, [a], 5);
    expect(await states(store.declareIndexes(collection, [a, b], 5))).toEqual({ a: "ready" });
    expect(await states(store.declareIndexes(collection, [b], 4))).toEqual({ a: "ready" });
    expect(await states(store.declareIndexes(collection, [b], 6))).toEqual({ b: "ready" });
    expect(await states(store.declareIndexes(collection, [], 7))).toEqual({});
    expect(await states(store.indexes(collection))).toEqual({});
  });

  it("keeps a ready index ready when a later revision declares it with others", async () => {
    const { store } = subject();
    const collection = freshCollection();
    await store.declareIndexes(collection, [a], 1);
    await store.create(collection, objectOf(1, { a: "1", b: "2" }), plenty);
    expect(await states(store.declareIndexes(collection, [b, a], 2))).toEqual({ a: "ready", b: "building" });
    expect(await page(store, collection, "a")).toEqual([idOf(1)]);
    expect(await store.pageByField(collection, {}, { index: "b" }, all)).toEqual({ outcome: "not_ready" });
  });

  it("makes a declaration count for writes of every replica", async () => {
    const [one, other] = await twoReplicas(subject());
    const collection = freshCollection();
    await one.create(collection, objectOf(1, { a: "3" }), plenty);
    await other.create(collection, objectOf(2, { a: "2" }), plenty);
    await one.declareIndexes(collection, [a], 1);
    await other.create(collection, objectOf(3, { a: "1" }), plenty);
    await buildAll(one, collection);
    await other.create(collection, objectOf(4, { a: "0" }), plenty);
    await other.replace(collection, objectOf(1, { a: "9" }), objectOf(1, { a: "3" }));
    expect(await page(one, collection, "a")).toEqual([4, 3, 2, 1].map(idOf));
    expect(await page(other, collection, "a")).toEqual([4, 3, 2, 1].map(idOf));
  });

  it("refuses writers of a configuration that is older than the newest that it was told of", async () => {
    const [one, other] = await twoReplicas(subject());
    // One process has the newest configuration.
    if (one === other) return;
    const collection = freshCollection();
    const at = (revision: number) => ({ ...collection, revision });
    const stored = objectOf(1, { a: "1" });
    await other.create(at(3), stored, plenty);
    for (const revision of [5, 4]) await one.refuseOlderWriters(at(revision));
    await expect(other.create(at(4), objectOf(2, { a: "2" }), plenty)).rejects.toThrow(WriteConflict);
    await expect(other.replace(at(4), objectOf(1, { a: "2" }), stored)).rejects.toThrow(WriteConflict);
    expect(await other.create(at(5), objectOf(2, { a: "2" }), plenty)).toMatchObject({ outcome: "created" });
    expect(await other.remove(at(3), stored.id, {})).toBe(true);
  });

  it.each(["replace", "remove"] as const)(
    "makes a declaration count for another replica's first call, a %s",
    async (write) => {
      const [one, other] = await twoReplicas(subject());
      const collection = freshCollection();
      const before = objectOf(1, { a: "3" }, "user:u1");
      await other.create(collection, before, plenty);
      await other.create(collection, objectOf(2, { a: "2" }, "user:u1"), plenty);
      await one.declareIndexes(collection, [a], 1);
      await buildAll(one, collection);
      if (write === "remove") await other.remove(collection, before.id, {});
      else await other.replace(collection, objectOf(1, { a: "1" }, "user:u1"), before);
      expect(await page(one, collection, "a")).toEqual((write === "remove" ? [2] : [1, 2]).map(idOf));
      await expectIndexesExact(one, collection, ["user:u1"]);
    },
  );
}

function describeBuilding(subject: Subject): void {
  it("builds over existing objects, and answers not_ready until it has", async () => {
    const { store } = subject();
    const collection = freshCollection();
    await store.create(collection, objectOf(1, { a: "2" }), plenty);
    await store.create(collection, objectOf(2, { a: "1" }), plenty);
    expect(await states(store.declareIndexes(collection, [a, b], 1))).toEqual({ a: "building", b: "building" });
    expect(await store.pageByField(collection, {}, { index: "a", equals: encodeSortValue("1") }, all)).toEqual({
      outcome: "not_ready",
    });
    await buildAll(store, collection);
    expect(await states(store.indexes(collection))).toEqual({ a: "ready", b: "ready" });
    expect(await page(store, collection, "a")).toEqual([2, 1].map(idOf));
    expect(await page(store, collection, "b")).toEqual([1, 2].map(idOf));
  });

  it("answers not_ready to who means another field by its name", async () => {
    const { store } = subject();
    const collection = freshCollection();
    const one = { name: "a.b", path: ["a", "b"] };
    const two = { name: "a,b", path: ["a"], parts: [a, b] } as const;
    await store.declareIndexes(collection, [one, two], 1);
    const others = [
      { name: "a.b", path: ["a.b"] },
      { name: "a.b", path: ["a"] },
      { ...two, parts: [a, { ...b, path: ["c"] }] as const },
      { ...two, parts: [a, { ...b, name: "c" }] as const },
      { name: "a,b", path: ["a"] },
    ];
    const outcomes = async (field: IndexField) => {
      const query = { index: field.name, field };
      const walked = await store.pageAfter(collection, {}, query, { ...all, counted: true });
      const found = await store.candidates(collection, {}, [{ ...query, ranges: [{ from: "", to: "~" }] }], 10);
      return [(await store.pageByField(collection, {}, query, all)).outcome, walked.outcome, found.outcome];
    };
    for (const field of [one, two, structuredClone(two)]) {
      expect(await outcomes(field)).toEqual(["page", "page", "found"]);
    }
    for (const field of others) expect(await outcomes(field)).toEqual(["not_ready", "not_ready", "not_ready"]);
  });

  it("ends exact when creates, replaces and removes go on meanwhile, from two replicas", async () => {
    const [one, other] = await twoReplicas(subject());
    const collection = freshCollection();
    const first = Array.from({ length: 2_000 }, (_, n) =>
      objectOf(n, { a: String(n % 7), b: `"${n % 11}"` }, `user:u${n % 3}`),
    );
    await Promise.all(first.map((object) => one.create(collection, object, plenty)));
    await one.declareIndexes(collection, [a, b], 1);
    const edits = Array.from({ length: 400 }, (_, n) => n);
    await Promise.all([
      buildAll(one, collection),
      buildAll(other, collection),
      ...edits.map((n) => edit(n % 2 === 0 ? one : other, collection, first, n)),
    ]);
    await expectIndexesExact(one, collection, ["user:u0", "user:u1", "user:u2", "user:new"]);
    // 400 created, 200 removed and as many created for them, 199 of the created removed again.
    expect(await one.count(collection, {})).toBe(2_000 + 400 - 199);
  });

  it("builds an index of two fields anew when one of them is another", async () => {
    const { store } = subject();
    const collection = freshCollection();
    const ofTwo = (second: IndexField): IndexField => ({ name: "two", path: a.path, parts: [a, second] });
    await store.declareIndexes(collection, [ofTwo(b)], 1);
    for (const n of [1, 2, 3, 4]) {
      await store.create(collection, objectOf(n, { a: String(n % 2), b: String(-n), n: `{"m":${n}}` }), plenty);
    }
    expect(await page(store, collection, "two")).toEqual([4, 2, 3, 1].map(idOf));
    expect(await states(store.declareIndexes(collection, [ofTwo(nested)], 2))).toEqual({ two: "building" });
    await buildAll(store, collection);
    expect(await page(store, collection, "two")).toEqual([2, 4, 1, 3].map(idOf));
    await expectIndexesExact(store, collection, ["user:alice"]);
  });

  async function edit(store: Store, collection: CollectionRef, first: readonly NewObject[], n: number): Promise<void> {
    const target = first[n * 5];
    if (target === undefined) throw new Error("No such object");
    await store.create(collection, objectOf(5_000 + n, { a: String(n % 5), b: "null" }, "user:new"), plenty);
    if (n % 2 === 0) {
      expect(await store.remove(collection, target.id, {})).toBe(true);
      await store.create(collection, objectOf(7_000 + n, { a: "true" }, target.owner), plenty);
      return;
    }
    const text = target.text.replace(/"a":\d+/, `"a":"edited ${n}"`);
    expect(await store.replace(collection, { ...target, text }, target)).toEqual({ outcome: "replaced", text });
    if (n > 2) await store.remove(collection, idOf(5_000 + n), {});
  }

  it("drops an index, and takes it up again without entries of before", async () => {
    const { store } = subject();
    const collection = freshCollection();
    await store.declareIndexes(collection, [a, b], 1);
    for (const n of [1, 2, 3, 4]) await store.create(collection, objectOf(n, { a: String(n), b: "0" }), plenty);
    await store.declareIndexes(collection, [b], 2);
    expect(await store.pageByField(collection, {}, { index: "a" }, all)).toEqual({ outcome: "not_ready" });
    await store.replace(collection, objectOf(1, { a: "100", b: "0" }), objectOf(1, { a: "1", b: "0" }));
    await store.remove(collection, idOf(2), {});
    await store.create(collection, objectOf(5, { a: "0", b: "0" }), plenty);
    expect(await states(store.declareIndexes(collection, [a, b], 3))).toEqual({ a: "building", b: "ready" });
    await buildAll(store, collection);
    expect(await page(store, collection, "a")).toEqual([5, 3, 4, 1].map(idOf));
    await expectIndexesExact(store, collection, ["user:alice"]);
  });

  it("builds anew an index whose name now stands for another path", async () => {
    const { store } = subject();
    const collection = freshCollection();
    await store.declareIndexes(collection, [{ name: "x.y", path: ["x.y"] }], 1);
    await store.create(collection, objectOf(1, { "x.y": "1", x: '{"y":2}' }), plenty);
    await store.create(collection, objectOf(2, { "x.y": "2", x: '{"y":1}' }), plenty);
    expect(await page(store, collection, "x.y")).toEqual([1, 2].map(idOf));
    const field = { name: "x.y", path: ["x", "y"] };
    expect(await store.declareIndexes(collection, [field], 2)).toEqual([{ field, state: "building" }]);
    await buildAll(store, collection);
    expect(await page(store, collection, "x.y")).toEqual([2, 1].map(idOf));
  });

  it("indexes the service's own members and nested paths, and nothing through arrays or scalars", async () => {
    const { store } = subject();
    const collection = freshCollection();
    const created: IndexField = { name: "_metadata.created", path: ["_metadata", "created"] };
    await store.declareIndexes(collection, [nested, created, { name: "l.0", path: ["l", "0"] }], 1);
    await store.create(collection, objectOf(1, { n: '{"m":2}', l: "[5]" }), plenty);
    await store.create(collection, objectOf(2, { n: '{"m":1}', l: '{"0":5}' }), plenty);
    await store.create(collection, objectOf(3, { n: '"m"', l: '"05"' }), plenty);
    await store.create(collection, objectOf(4, { n: '[{"m":0}]' }), plenty);
    expect(await page(store, collection, "n.m")).toEqual([3, 4, 2, 1].map(idOf));
    expect(await page(store, collection, "l.0")).toEqual([1, 3, 4, 2].map(idOf));
    const same = await store.pageByField(
      collection,
      {},
      { index: created.name, equals: encodeSortValue(String(secondOf(idOf(1)))) },
      all,
    );
    expect(same).toMatchObject({ outcome: "page", count: 4 });
  });

  it("finds fields by odd names in a document's own members only", async () => {
    const { store } = subject();
    const collection = freshCollection();
    const names = ["__proto__", "constructor", "toString", "10", "", 'a"b', "a\\b", "a/b", "a.b"];
    await store.declareIndexes(
      collection,
      names.map((name) => ({ name, path: [name] })),
      1,
    );
    const with1 = Object.fromEntries(names.slice(1).map((name) => [name, "1"]));
    Object.defineProperty(with1, "__proto__", { value: "1", enumerable: true });
    await store.create(collection, objectOf(1, with1), plenty);
    await store.create(collection, objectOf(2, {}), plenty);
    for (const name of names) expect([name, await page(store, collection, name)]).toEqual([name, [2, 1].map(idOf)]);
  });
}

const all = { offset: 0, limit: 10_000, descending: false };

async function states(indexes: ReturnType<Store["indexes"]>): Promise<Record<string, string>> {
  return Object.fromEntries((await indexes).map(({ field, state }) => [field.name, state]));
}

async function page(store: Store, collection: CollectionRef, index: string): Promise<string[]> {
  const answer = await store.pageByField(collection, {}, { index }, all);
  if (answer.outcome === "not_ready") throw new Error(`The index ${index} is not ready`);
  return idsIn(answer.texts);
}
