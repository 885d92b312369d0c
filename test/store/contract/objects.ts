// The promises of objects about single objects: exact texts, visibility, compare-and-set, quota,
// purge. Pages and indexes have files of their own; `describeObjectStore` runs all three.

import { describe, expect, it } from "vitest";
import { purgeCollection } from "../../../dataplane/config/purge-steps.ts";
import type { Store } from "../../../dataplane/store/port.ts";
import type { NewObject } from "../../../dataplane/store/ports/objects.ts";
import type { CollectionRef } from "../../../dataplane/store/ports/refs.ts";
import { pageByCreation } from "../../support/store/page-by-creation.ts";
import { idOf, objectOf, servedText } from "../../support/store/stored-objects.ts";
import {
  freshCollection,
  freshProject,
  type MakeStore,
  type StoreUnderTest,
  twoReplicas,
  useStore,
} from "./fixture.ts";
import { describeIdRanges } from "./id-ranges.ts";
import { describeIndexes } from "./indexes.ts";
import { describeLongPages } from "./long-pages.ts";
import { describeOwners } from "./owners.ts";
import { describePages } from "./pages.ts";
import { describeRanges } from "./ranges.ts";
import { describeSizes } from "./sizes.ts";
import { describeTakenIds } from "./taken-ids.ts";
import { describeUnique } from "./unique.ts";
import { unusualKeys } from "./unusual-keys.ts";

const plenty = 1_000_000;

type Subject = () => StoreUnderTest;

export function describeObjectStore(name: string, make: MakeStore): void {
  describe(`${name}: objects`, () => {
    const subject = useStore(make);
    describeTexts(subject);
    describeVisibility(subject);
    describeReplace(subject);
    describeQuotaAndPurge(subject);
  });
  describePages(name, make);
  describeLongPages(name, make);
  describeRanges(name, make);
  describeIdRanges(name, make);
  describeIndexes(name, make);
  describeOwners(name, make);
  describeTakenIds(name, make);
  describeUnique(name, make);
  describeSizes(name, make);
}

function describeTexts(subject: Subject): void {
  const exactTexts: Readonly<Record<string, string>> = {
    "the largest and smallest integers": "[18446744073709551615,-9223372036854775808,9007199254740993,0]",
    "a fraction of zero": "[1.0,-1.5,0.1,100.0]",
    "control characters and escapes": '"\\u0000\\u0001\\u001f\\b\\t\\n\\f\\r\\"\\\\/\u007f\u2028"',
    "letters of one to four bytes": '"aé€😀"',
    "empty containers": '[{},[],"",null,true,false,{"a":{}}]',
    "members out of alphabetic and numeric order": '{"b":1,"10":2,"a":3,"9":4,"":5}',
    "text that looks like a path or a command": '{"$":1,"..":2,"*":3,"[0]":4,"$.a":"JSON.SET x $ 1"}',
  };

  for (const [what, text] of Object.entries(exactTexts)) {
    it(`returns ${what} as they were sent`, async () => {
      const { store } = subject();
      const collection = freshCollection();
      const object = objectOf(1, { value: text });
      expect(await store.create(collection, object, plenty)).toEqual({ outcome: "created", text: object.text });
      expect(await store.read(collection, object.id, {})).toEqual({ text: object.text });
      expect(await everyPage(store, collection)).toEqual([object.text]);
    });
  }

  it("returns each of many that are read at once as it was sent, one that is there twice or not at all too", async () => {
    const { store } = subject();
    const [one, other] = [freshCollection(), freshCollection()];
    const objects = Object.values(exactTexts).map((value, n) => objectOf(n, { value }));
    for (const object of objects) {
      await store.create(one, object, plenty);
      await store.create(other, { ...object, owner: "user:bob" }, plenty);
    }
    const ids = [...objects.map(({ id }) => id), idOf(1_000), idOf(0)];
    const expected = ids.map((id) => objects.find((object) => object.id === id)?.text);
    for (let times = 0; times < 3; times += 1) {
      const read = await Promise.all([
        ...ids.map((id) => store.read(one, id, {})),
        ...ids.map((id) => store.read(other, id, {})),
        ...ids.map((id) => store.read(one, id, { owner: "user:bob" })),
      ]);
      expect(read.map((object) => object?.text)).toEqual([...expected, ...expected, ...ids.map(() => undefined)]);
    }
  });

  it("returns every odd key as it was sent, at the top and below", async () => {
    const { store } = subject();
    const collection = freshCollection();
    const members = unusualKeys.map((key, n) => [key, String(n)] as const);
    const nested = `{${members.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",")}}`;
    const object = {
      id: idOf(1),
      owner: "user:alice",
      text: servedText(idOf(1), [...members, ["nested", nested]], "user:alice"),
    };
    await store.create(collection, object, plenty);
    expect(await store.read(collection, object.id, {})).toEqual({ text: object.text });
  });

  it("keeps nesting of 64 levels and a text of 900 KiB", async () => {
    const { store } = subject();
    const collection = freshCollection();
    const deep = objectOf(1, { value: `${"[".repeat(63)}${"]".repeat(63)}` });
    const long = objectOf(2, { value: JSON.stringify("x".repeat(900 * 1024)) });
    await store.create(collection, deep, plenty);
    await store.create(collection, long, plenty);
    expect((await store.read(collection, deep.id, {}))?.text).toBe(deep.text);
    expect((await store.read(collection, long.id, {}))?.text === long.text).toBe(true);
  });

  it("keeps projects and resources apart whose names could run together", async () => {
    const { store } = subject();
    const { namespace } = freshProject();
    const collections: readonly CollectionRef[] = [
      { project: { namespace, name: "a" }, resource: "b-c" },
      { project: { namespace, name: "a-b" }, resource: "c" },
      { project: { namespace: `${namespace}-a`, name: "b" }, resource: "c" },
      { project: { namespace, name: "a" }, resource: "c" },
    ];
    for (const [n, collection] of collections.entries()) {
      await store.create(collection, objectOf(n, { n: String(n) }), plenty);
    }
    for (const [n, collection] of collections.entries()) {
      expect(await everyPage(store, collection)).toEqual([objectOf(n, { n: String(n) }).text]);
      expect(await store.read(collection, idOf((n + 1) % collections.length), {})).toBeUndefined();
    }
  });
}

function describeVisibility(subject: Subject): void {
  const owners = [
    "user:alice",
    "apikey:alice",
    "anonymous:anonymous",
    "user:alice smith",
    "user:ali",
    'user:a"b\\c\u0001',
    "user:😀",
  ];

  it("shows an owner its own objects only, in read, pages, scan, count and remove", async () => {
    const { store } = subject();
    const collection = freshCollection();
    for (const [n, owner] of owners.entries()) {
      await store.create(collection, objectOf(n, {}, owner), plenty);
      await store.create(collection, objectOf(n + 100, {}, owner), plenty);
    }
    expect(await store.count(collection, {})).toBe(owners.length * 2);
    for (const [n, owner] of owners.entries()) {
      const own = [objectOf(n, {}, owner).text, objectOf(n + 100, {}, owner).text];
      const foreign = idOf((n + 1) % owners.length);
      expect(await store.count(collection, { owner })).toBe(2);
      expect(await everyPage(store, collection, owner)).toEqual(own);
      expect(await scanned(store, collection, owner)).toEqual(own);
      expect(await store.read(collection, idOf(n), { owner })).toEqual({ text: own[0] });
      expect(await store.read(collection, foreign, { owner })).toBeUndefined();
      expect(await store.remove(collection, foreign, { owner })).toBe(false);
    }
    expect(await store.count(collection, {})).toBe(owners.length * 2);
  });

  it("shows nothing to an owner of nothing", async () => {
    const { store } = subject();
    const collection = freshCollection();
    await store.create(collection, objectOf(1, {}), plenty);
    const visible = { owner: "user:bob" };
    expect(await store.count(collection, visible)).toBe(0);
    expect(await pageByCreation(store, collection, visible, { offset: 0, limit: 10, descending: false })).toEqual({
      count: 0,
      texts: [],
    });
    expect(await scanned(store, collection, "user:bob")).toEqual([]);
  });

  it("removes an object once, from everything that shows it", async () => {
    const { store } = subject();
    const collection = freshCollection();
    await store.create(collection, objectOf(1, {}), plenty);
    await store.create(collection, objectOf(2, {}), plenty);
    expect(await store.remove(collection, idOf(1), { owner: "user:alice" })).toBe(true);
    expect(await store.remove(collection, idOf(1), {})).toBe(false);
    expect(await store.read(collection, idOf(1), {})).toBeUndefined();
    expect(await everyPage(store, collection)).toEqual([objectOf(2, {}).text]);
    expect(await everyPage(store, collection, "user:alice")).toEqual([objectOf(2, {}).text]);
    expect(await store.count(collection, { owner: "user:alice" })).toBe(1);
  });

  it("answers for a collection that was never written", async () => {
    const { store } = subject();
    const collection = freshCollection();
    expect(await store.count(collection, {})).toBe(0);
    expect(await everyPage(store, collection)).toEqual([]);
    expect(await scanned(store, collection)).toEqual([]);
    expect(await store.read(collection, idOf(1), {})).toBeUndefined();
    expect(await store.remove(collection, idOf(1), {})).toBe(false);
    expect(await store.replace(collection, objectOf(1, {}), objectOf(1, {}))).toEqual({ outcome: "not_found" });
    expect(await store.indexes(collection)).toEqual([]);
    expect(await store.buildIndexes(collection)).toBe("done");
    expect(await store.collectionIdentity(collection)).toBeUndefined();
  });
}

function describeReplace(subject: Subject): void {
  it("replaces while the stored text is the one that was read, and refuses otherwise", async () => {
    const { store } = subject();
    const collection = freshCollection();
    const [first, second, third] = [objectOf(1, { a: "1" }), objectOf(1, { a: "1.0" }), objectOf(1, { a: "2" })];
    await store.create(collection, first, plenty);
    expect(await store.replace(collection, second, first)).toEqual({ outcome: "replaced", text: second.text });
    expect(await store.replace(collection, third, first)).toEqual({ outcome: "conflict" });
    expect(await store.read(collection, idOf(1), {})).toEqual({ text: second.text });
    expect(await store.replace(collection, second, second)).toEqual({ outcome: "replaced", text: second.text });
  });

  it("answers not_found, and creates nothing, when the object is gone", async () => {
    const { store } = subject();
    const collection = freshCollection();
    await store.create(collection, objectOf(1, {}), plenty);
    await store.remove(collection, idOf(1), {});
    expect(await store.replace(collection, objectOf(1, { a: "1" }), objectOf(1, {}))).toEqual({ outcome: "not_found" });
    expect(await store.count(collection, {})).toBe(0);
  });

  it("leaves the owner and the place in the order of creation", async () => {
    const { store } = subject();
    const collection = freshCollection();
    for (const n of [1, 2, 3]) await store.create(collection, objectOf(n, {}), plenty);
    await store.replace(collection, objectOf(2, { a: "1" }), objectOf(2, {}));
    const expected = [objectOf(1, {}).text, objectOf(2, { a: "1" }).text, objectOf(3, {}).text];
    expect(await everyPage(store, collection)).toEqual(expected);
    expect(await everyPage(store, collection, "user:alice")).toEqual(expected);
  });

  it("keeps 200 parallel edits of different fields, made from two replicas", async () => {
    const stores = await twoReplicas(subject());
    const collection = freshCollection();
    await stores[0].create(collection, objectOf(1, {}), plenty);
    const edits = Array.from({ length: 200 }, (_, n) => setField(stores[n % 2 === 0 ? 0 : 1], collection, `f${n}`));
    await Promise.all(edits);
    const stored = JSON.parse((await stores[0].read(collection, idOf(1), {}))?.text ?? "{}") as Record<string, unknown>;
    for (let n = 0; n < 200; n += 1) expect(stored[`f${n}`]).toBe(1);
  });

  async function setField(store: Store, collection: CollectionRef, field: string): Promise<void> {
    for (;;) {
      const previous = await store.read(collection, idOf(1), {});
      if (previous === undefined) throw new Error("The object is gone");
      const text = previous.text.replace(',"_metadata"', `,"${field}":1,"_metadata"`);
      const answer = await store.replace(collection, { id: idOf(1), owner: "user:alice", text }, previous);
      if (answer.outcome === "replaced") return;
      expect(answer).toEqual({ outcome: "conflict" });
    }
  }
}

function describeQuotaAndPurge(subject: Subject): void {
  it("refuses an object above the quota, and takes it once there is room", async () => {
    const { store } = subject();
    const collection = freshCollection();
    const create = (n: number) => store.create(collection, objectOf(n, {}, `user:u${n}`), 2);
    expect((await create(1)).outcome).toBe("created");
    expect((await create(2)).outcome).toBe("created");
    expect(await create(3)).toEqual({ outcome: "quota_exceeded" });
    expect(await store.count(collection, {})).toBe(2);
    expect(await store.read(collection, idOf(3), {})).toBeUndefined();
    await store.remove(collection, idOf(1), {});
    expect((await create(3)).outcome).toBe("created");
    expect(await store.create(freshCollection(), objectOf(1, {}), 0)).toEqual({ outcome: "quota_exceeded" });
  });

  it("holds the quota exactly under parallel creates from two replicas", async () => {
    const stores = await twoReplicas(subject());
    const collection = freshCollection();
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, n) => stores[n % 2 === 0 ? 0 : 1].create(collection, objectOf(n, {}), 30)),
    );
    expect(answers.filter(({ outcome }) => outcome === "created")).toHaveLength(30);
    expect(await stores[1].count(collection, {})).toBe(30);
  });

  it("purges in batches until nothing is left, and nothing beside", async () => {
    const { store } = subject();
    const collection = freshCollection();
    const neighbour: CollectionRef = { ...collection, resource: "bookshelves" };
    const fields = [{ name: "n", path: ["n"] }];
    await store.declareIndexes(collection, fields, 7);
    await store.declareIndexes(neighbour, fields, 7);
    for (let n = 0; n < 25; n += 1) await createBoth(store, [collection, neighbour], objectOf(n, { n: String(n) }));
    const identity = (await store.collectionIdentity(collection)) ?? "";
    expect(await store.purge(collection, identity, 10)).toBe("more");
    expect(await store.count(collection, {})).toBe(15);
    for (let round = 0; (await store.purge(collection, identity, 10)) === "more"; round += 1)
      expect(round).toBeLessThan(5);
    expect(await everyPage(store, collection)).toEqual([]);
    expect(await store.count(collection, { owner: "user:alice" })).toBe(0);
    expect(await store.count(neighbour, {})).toBe(25);
    expect(await store.pageByField(neighbour, {}, { index: "n" }, { offset: 24, limit: 1, descending: false })).toEqual(
      {
        outcome: "page",
        count: 25,
        texts: [objectOf(24, { n: "24" }).text],
      },
    );
  });

  it("takes nothing of what was stored after what a purge named, and leaves its indexes", async () => {
    const { store } = subject();
    const collection = freshCollection();
    const field = { name: "n", path: ["n"] };
    await store.declareIndexes(collection, [field], 7);
    for (let n = 0; n < 3; n += 1) await store.create(collection, objectOf(n, { n: String(n) }), plenty);
    const identity = (await store.collectionIdentity(collection)) ?? "";
    expect(await store.collectionIdentity(collection)).toBe(identity);
    expect(await store.purge(collection, identity, 2)).toBe("more");
    expect(await store.collectionIdentity(collection)).toBe(identity);
    expect(await store.purge(collection, identity, 2)).toBe("done");
    expect(await store.purge(collection, identity, 2)).toBe("gone");
    await store.declareIndexes(collection, [field], 8);
    for (let n = 0; n < 10; n += 1) await store.create(collection, objectOf(n, { n: String(n) }), plenty);
    expect(await store.purge(collection, identity, 100)).toBe("gone");
    expect(await store.collectionIdentity(collection)).not.toBe(identity);
    expect(await store.purge(collection, identity, 100)).toBe("gone");
    expect(await store.indexes(collection)).toEqual([{ field, state: "ready" }]);
    expect(
      await store.pageByField(collection, {}, { index: "n" }, { offset: 0, limit: 1, descending: false }),
    ).toMatchObject({ count: 10 });
  });

  it("forgets a purged collection's indexes, so that a new resource of that name starts with its own", async () => {
    const { store } = subject();
    const collection = freshCollection();
    await store.declareIndexes(collection, [{ name: "n", path: ["n"] }], 7);
    await store.create(collection, objectOf(1, { n: "1" }), plenty);
    await purgeCollection(store, collection);
    expect(await store.indexes(collection)).toEqual([]);
    const field = { name: "m", path: ["m"] };
    expect(await store.declareIndexes(collection, [field], 1)).toEqual([{ field, state: "ready" }]);
    await store.create(collection, objectOf(2, { n: "1", m: "2" }), plenty);
    expect(await store.pageByField(collection, {}, { index: "m" }, { offset: 0, limit: 5, descending: false })).toEqual(
      {
        outcome: "page",
        count: 1,
        texts: [objectOf(2, { n: "1", m: "2" }).text],
      },
    );
  });
}

async function createBoth(store: Store, collections: readonly CollectionRef[], object: NewObject): Promise<void> {
  for (const collection of collections) await store.create(collection, object, plenty);
}

async function everyPage(store: Store, collection: CollectionRef, owner?: string): Promise<readonly string[]> {
  const visible = owner === undefined ? {} : { owner };
  return (await pageByCreation(store, collection, visible, { offset: 0, limit: 1_000, descending: false })).texts;
}

async function scanned(store: Store, collection: CollectionRef, owner?: string): Promise<readonly string[]> {
  const texts: string[] = [];
  for await (const batch of store.scan(collection, owner === undefined ? {} : { owner })) texts.push(...batch);
  return texts;
}
