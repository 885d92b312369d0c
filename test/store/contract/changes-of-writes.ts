// Each way of writing, and the entries that it leaves in the log of changes.

import { expect, it } from "vitest";
import type { Store } from "../../../dataplane/store/port.ts";
import type { IdempotencyRecord } from "../../../dataplane/store/ports/idempotency.ts";
import { idOf, objectOf } from "../../support/store/stored-objects.ts";
import { type StoreUnderTest, twoReplicas } from "./fixture.ts";
import {
  entriesAfter,
  type LoggedCollection,
  type LoggedDocument,
  loggedCollection,
  loggedDocument,
} from "./logged-refs.ts";

type Subject = () => StoreUnderTest;

const owner = "user:bob";
const record: IdempotencyRecord = { key: "k", text: "first", seconds: 1_000 };
const object = (n: number, text = "1") => objectOf(n, { text }, owner);
/** Stored before. */
const known = object(1);
const none = { text: "" };
const putOne = ["put", idOf(1), owner];
const deleteOne = ["delete", idOf(1), owner];
const putTwo = ["put", idOf(2), owner];

type CollectionWrite = (store: Store, collection: LoggedCollection) => Promise<unknown>;

const collectionWrites: readonly (readonly [string, CollectionWrite, readonly (readonly string[])[]])[] = [
  ["a create", (store, of) => store.create(of, object(2), 10), [putTwo]],
  ["a create above the maximum", (store, of) => store.create(of, object(2), 1), []],
  ["a create with a taken id", (store, of) => store.create(of, object(1, "2"), 10).catch(() => "taken"), []],
  ["a create that leaves a record", (store, of) => store.create(of, { ...object(2), record }, 10), [putTwo]],
  [
    "a create that is repeated",
    async (store, of) => {
      for (const n of [2, 3, 2]) await store.create(of, { ...object(n), record }, 10);
    },
    [putTwo],
  ],
  [
    "a create with an index, of a stale one too",
    async (store, of) => {
      await store.declareIndexes(of, [{ name: "text", path: ["text"] }], 1);
      await store.create(of, object(2), 10);
    },
    [putTwo],
  ],
  ["a replacement", (store, of) => store.replace(of, object(1, "2"), known), [putOne]],
  ["a replacement of another text", (store, of) => store.replace(of, object(1, "2"), none), []],
  ["a replacement of nothing", (store, of) => store.replace(of, object(9), known), []],
  ["a removal", (store, of) => store.remove(of, idOf(1), {}), [deleteOne]],
  ["a removal by its owner", (store, of) => store.remove(of, idOf(1), { owner }), [deleteOne]],
  ["a removal by another owner", (store, of) => store.remove(of, idOf(1), { owner: "user:eve" }), []],
  ["a removal of nothing", (store, of) => store.remove(of, idOf(9), {}), []],
  ["a removal of the same text", (store, of) => store.removeUnchanged(of, idOf(1), known), [deleteOne]],
  ["a removal of another text", (store, of) => store.removeUnchanged(of, idOf(1), none), []],
];

const limits = { maxBytes: 1_000, mayCreate: true };
const put = ["put", "", ""];
/** No path of Redis JSON can name it. */
const quoted = 'a"';

type DocumentStep = (store: Store, document: LoggedDocument) => Promise<unknown>;

const documentWrites: readonly (readonly [string, DocumentStep, number])[] = [
  ["a first value, where there is one", (store, of) => store.initialise(of, "1"), 0],
  ["an insert", (store, of) => store.insertAt(of, ["new"], "1", limits), 1],
  ["an insert of a key that exists", (store, of) => store.insertAt(of, ["list"], "1", limits), 0],
  ["an insert at an index", (store, of) => store.insertAt(of, ["list", "0"], "1", limits), 1],
  ["an append", (store, of) => store.insertAt(of, ["list", "-"], "1", limits), 1],
  ["an append that is too large", (store, of) => store.insertAt(of, ["list", "-"], "1", { maxBytes: 9 }), 0],
  ["an insert below a quoted key", (store, of) => store.insertAt(of, [quoted], "1", limits), 1],
  ["an insert that leaves a record", (store, of) => store.insertAt(of, ["list", "-"], "1", { ...limits, record }), 1],
  [
    "an insert that is repeated",
    async (store, of) => {
      for (const key of ["list", "list", quoted]) {
        await store.insertAt(of, key === quoted ? [quoted] : [key, "-"], "1", { ...limits, record });
      }
    },
    1,
  ],
  ["a put of everything", (store, of) => store.putAt(of, [], "[]", limits), 1],
  ["a put of everything, counted", (store, of) => store.putAt(of, [], "[]", { ...limits, maxGrowth: 9 }), 1],
  ["a put of a new key", (store, of) => store.putAt(of, ["new"], "1", limits), 1],
  ["a put of a value", (store, of) => store.putAt(of, ["list"], "1", limits), 1],
  ["a put of an element", (store, of) => store.putAt(of, ["list", "0"], "1", limits), 1],
  ["a put that must not create", (store, of) => store.putAt(of, ["new"], "1", { ...limits, mayCreate: false }), 0],
  ["a put that expects another value", (store, of) => store.putAt(of, ["list"], "1", { ...limits, expected: none }), 0],
  ["a put that is too large", (store, of) => store.putAt(of, ["list"], "1", { ...limits, maxBytes: 1 }), 0],
  ["a put below a quoted key", (store, of) => store.putAt(of, [quoted], "1", limits), 1],
  ["a removal of a key", (store, of) => store.removeAt(of, ["list"]), 1],
  ["a removal of an element", (store, of) => store.removeAt(of, ["list", "0"]), 1],
  ["a removal of nothing", (store, of) => store.removeAt(of, ["none"]), 0],
  ["a removal that expects another value", (store, of) => store.removeAt(of, ["list"], { expected: none }), 0],
  ["a removal below a quoted key", (store, of) => store.removeAt(of, ["quoted", quoted]), 1],
];

export function describeLoggedWrites(subject: Subject): void {
  it.each(collectionWrites)("%s of an object leaves what it changed", async (_, write, expected) => {
    const [one, two] = await twoReplicas(subject());
    const collection = loggedCollection();
    await one.create(collection, known, 10);
    const before = await one.newestChange(collection);
    await write(two, collection);
    expect(await entriesAfter(one, collection, before)).toEqual(expected);
  });

  it("many creates at once leave an entry for each that was created", async () => {
    const { store } = subject();
    const collection = loggedCollection();
    const before = await store.newestChange(collection);
    const ids = Array.from({ length: 40 }, (_, n) => n + 1);
    const outcomes = await Promise.all(ids.map(async (n) => (await store.create(collection, object(n), 30)).outcome));
    const created = ids.filter((_, at) => outcomes[at] === "created");
    expect(created).toHaveLength(30);
    const entries = await entriesAfter(store, collection, before);
    expect(entries.toSorted()).toEqual(created.map((n) => ["put", idOf(n), owner]).toSorted());
  });

  it("creates at once, of which some declare a log and some none, leave no gap", async () => {
    const { store } = subject();
    const collection = loggedCollection();
    const { project, resource } = collection;
    const before = await store.newestChange(collection);
    const refs = [collection, { project, resource }, collection];
    await Promise.all(refs.map((ref, n) => store.create(ref, object(n), 10)));
    expect((await store.changesAfter(collection, before, 10)).outcome).toBe("lost");
  });

  it("the first value of a document leaves an entry", async () => {
    const { store } = subject();
    const document = loggedDocument();
    const before = await store.newestChange(document);
    expect(await store.readAt(document, [])).toEqual({ outcome: "missing_document" });
    expect(await store.initialise(document, "{}")).toBe(true);
    expect(await entriesAfter(store, document, before)).toEqual([put]);
  });

  it.each(documentWrites)("%s in a document leaves an entry if it changed something", async (_, write, entries) => {
    const [one, two] = await twoReplicas(subject());
    const document = loggedDocument();
    await one.initialise(document, '{"list":[1,2],"quoted":{"a\\"":1}}');
    const before = await one.newestChange(document);
    await write(two, document);
    expect(await entriesAfter(one, document, before)).toEqual(Array.from({ length: entries }, () => put));
  });
}
