// The promises of objects about lists of one owner's, while declarations say that such lists are
// asked for, and that they are not: they show nobody else's and none too few, or say that they are
// not ready. A store may keep what they need in any case.

import { describe, expect, it } from "vitest";
import { encodeSortValue } from "../../../dataplane/store/order.ts";
import type { Store } from "../../../dataplane/store/port.ts";
import type { OwnersEntries } from "../../../dataplane/store/ports/indexes.ts";
import type { FoundPage } from "../../../dataplane/store/ports/lists.ts";
import type { CollectionRef } from "../../../dataplane/store/ports/refs.ts";
import { writeBeside } from "../../support/killed-writer/write-beside.ts";
import { expectIndexesExact } from "../../support/redis/check-integrity.ts";
import { buildAll } from "../../support/store/build-all.ts";
import { idOf, idsIn, objectOf } from "../../support/store/stored-objects.ts";
import { freshCollection, type MakeStore, type StoreUnderTest, twoReplicas, useStore } from "./fixture.ts";

const plenty = 1_000_000;
const fields = ["a", "b"].map((name) => ({ name, path: [name] }));
const owners = ["user:u0", "user:u1", "user:u2"];
const range = { offset: 0, limit: 100, descending: false };
type Subject = () => StoreUnderTest;

export function describeOwners(name: string, make: MakeStore): void {
  describe(`${name}: lists of one's own`, () => describeOwnLists(useStore(make)));
}

function describeOwnLists(subject: Subject): void {
  const objectAt = (n: number) => objectOf(n, { a: String(n % 7), b: `"${n % 3}"` }, `user:u${n % 3}`);

  async function filled(store: Store, objects: number, entries: OwnersEntries): Promise<CollectionRef> {
    const collection = freshCollection();
    await store.declareIndexes(collection, fields, 1, entries);
    for (let n = 0; n < objects; n += 1) await store.create(collection, objectAt(n), plenty);
    return collection;
  }

  it("that nobody asks for are scanned, in order, and show each owner its own", async () => {
    const { store } = subject();
    const collection = await filled(store, 30, "left out");
    for (const owner of owners) expect(await listed(store, collection, owner)).toEqual(idsOf(30, owner));
    expect(await listed(store, collection, "user:nobody")).toEqual([]);
    expect(await listed(store, collection, "user:u")).toEqual([]);
    expect(await listed(store, collection)).toHaveLength(30);
  });

  it("that nobody asks for are right or not ready, in every order and for candidates", async () => {
    const { store } = subject();
    const collection = await filled(store, 30, "left out");
    const ones = { index: "a", equals: encodeSortValue("1") };
    const walk = { ...range, counted: true };
    for (const owner of owners) {
      const ids = idsOf(30, owner);
      expectExact(await store.pageByCreation(collection, { owner }, range), ids);
      expectExact(await store.pageAfter(collection, { owner }, undefined, walk), ids);
      expectExact(await store.pageByField(collection, { owner }, { index: "a" }, range), ids);
      expectExact(await store.pageAfter(collection, { owner }, { index: "a" }, walk), ids);
      const found = await store.candidates(collection, { owner }, [ones], 100);
      const every = await store.candidates(collection, {}, [ones], 100);
      if (found.outcome !== "not_ready" && every.outcome === "found") {
        expect(found).toEqual({ outcome: "found", ids: every.ids.filter((id) => ids.includes(id)) });
      }
    }
  });

  it("are exact from the moment when they are asked for again, after any steps", async () => {
    const { store } = subject();
    const collection = await filled(store, 30, "left out");
    await store.remove(collection, idOf(3), {});
    await store.replace(collection, changedObject(4), objectAt(4));
    await store.declareIndexes(collection, fields, 2, "kept");
    for (let step = "more"; step !== "done"; step = await store.buildIndexes(collection)) {
      for (const owner of owners) {
        expectExact(await store.pageByCreation(collection, { owner }, range), idsOf(30, owner, 3));
        expect(await listed(store, collection, owner)).toEqual(idsOf(30, owner, 3));
      }
    }
    await expectIndexesExact(store, collection, owners);
  });

  it("come back without what was there before they were left out", async () => {
    const { store } = subject();
    const collection = await filled(store, 30, "kept");
    await store.declareIndexes(collection, fields, 2, "left out");
    await store.remove(collection, idOf(3), {});
    await store.replace(collection, changedObject(4), objectAt(4));
    await store.create(collection, objectAt(30), plenty);
    // In the middle of the removal, or after it.
    await store.buildIndexes(collection);
    await store.replace(collection, changedObject(5), objectAt(5));
    await store.declareIndexes(collection, fields, 3, "kept");
    await buildAll(store, collection);
    await expectIndexesExact(store, collection, owners);
    expect(await listed(store, collection, "user:u0")).toEqual(idsOf(31, "user:u0", 3));
  });

  it("are told apart by their own revisions, and follow the newest", async () => {
    const { store } = subject();
    const collection = await filled(store, 10, "kept");
    await store.declareIndexes(collection, fields, 3, "left out");
    await store.declareIndexes(collection, fields, 2, "kept");
    await store.create(collection, objectAt(10), plenty);
    await store.declareIndexes(collection, fields, 4, "kept");
    await buildAll(store, collection);
    await expectIndexesExact(store, collection, owners);
  });

  it("end exact when two replicas write, build, and declare them back and forth", async () => {
    const [one, other] = await twoReplicas(subject());
    const collection = await filled(one, 600, "left out");
    let isOver = false;
    const beside = { existing: 600, isOver: () => isOver };
    const writing = [
      writeBeside(one, collection, { ...beside, first: 10_000 }),
      writeBeside(other, collection, { ...beside, first: 20_000 }),
    ];
    for (let revision = 2; revision < 12; revision += 1) {
      await declareAnew([one, other], collection, revision);
    }
    await Promise.all([buildAll(one, collection), buildAll(other, collection)]);
    isOver = true;
    await Promise.all(writing);
    await expectIndexesExact(other, collection, owners);
  });

  const changedObject = (n: number) => ({
    ...objectAt(n),
    text: objectAt(n).text.replace(/"a":\d+/, '"a":"changed"'),
  });
}

const third = {
  name: "a,b",
  path: ["a"],
  parts: [
    { name: "a", path: ["a"] },
    { name: "b", path: ["b"] },
  ],
} as const;

/**
 * With owners' entries in every other revision, and another index in some; then a few steps of
 * building.
 */
async function declareAnew(
  replicas: readonly [Store, Store],
  collection: CollectionRef,
  revision: number,
): Promise<void> {
  const declared = revision % 4 === 0 ? [...fields, third] : fields;
  const entries = revision % 2 === 0 ? "left out" : "kept";
  await replicas[revision % 3 === 0 ? 0 : 1].declareIndexes(collection, declared, revision, entries);
  for (let step = 0; step < revision; step += 1) await replicas[step % 2 === 0 ? 0 : 1].buildIndexes(collection);
}

function idsOf(count: number, owner: string, ...without: readonly number[]): readonly string[] {
  const all = Array.from({ length: count }, (_, n) => n).filter((n) => !without.includes(n));
  return all.filter((n) => owner === `user:u${n % 3}`).map(idOf);
}

function expectExact(page: FoundPage, ids: readonly string[]): void {
  if (page.outcome === "not_ready") return;
  expect(page.count).toBe(ids.length);
  expect(idsIn(page.texts).toSorted()).toEqual(ids);
}

/** As a list without an index reads them. */
async function listed(store: Store, collection: CollectionRef, owner?: string): Promise<readonly string[]> {
  const texts: string[] = [];
  const visible = owner === undefined ? {} : { owner };
  for await (const batch of store.scan(collection, visible)) texts.push(...batch);
  expect(await store.count(collection, visible)).toBeGreaterThanOrEqual(texts.length);
  return idsIn(texts);
}
