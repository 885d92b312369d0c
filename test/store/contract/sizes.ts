// The promises of Sizes: how much a collection or a document holds is exact, whatever writes
// meanwhile, and a document grows by no more than a write may add.

import { describe, expect, it } from "vitest";
import { purgeCollection, purgeDocument } from "../../../dataplane/config/purge-steps.ts";
import type { Store } from "../../../dataplane/store/port.ts";
import type { CollectionRef, DocumentRef } from "../../../dataplane/store/ports/refs.ts";
import { idOf, objectOf } from "../../support/store/stored-objects.ts";
import {
  freshCollection,
  freshDocument,
  type MakeStore,
  type StoreUnderTest,
  twoReplicas,
  useStore,
} from "./fixture.ts";

const plenty = 1_000_000;
const roomy = { maxBytes: plenty };
type Subject = () => StoreUnderTest;

export function describeSizes(name: string, make: MakeStore): void {
  describe(`${name}: sizes`, () => {
    const subject = useStore(make);
    describeCollections(subject);
    describeDocuments(subject);
    describeGrowth(subject);
    describeMembers(subject);
  });
}

function describeCollections(subject: Subject): void {
  it("are the number of a collection's objects and the UTF-8 bytes of their texts, and nothing of an empty one", async () => {
    const { store } = subject();
    const collection = freshCollection();
    await counted(store, collection);
    expect(await store.collectionSize(collection)).toEqual({ objects: 0, bytes: 0, isCounted: true });
    await create(store, collection, 1, "aé€😀");
    await create(store, collection, 2, "");
    await agree(store, collection, 2);
    await replace(store, collection, 1, "a longer text than before: €");
    await agree(store, collection, 2);
    await replace(store, collection, 1, "");
    await agree(store, collection, 2);
    expect(await store.removeUnchanged(collection, idOf(2), (await store.read(collection, idOf(2), {})) ?? none)).toBe(
      "removed",
    );
    expect(await store.remove(collection, idOf(1), {})).toBe(true);
    expect(await store.collectionSize(collection)).toEqual({ objects: 0, bytes: 0, isCounted: true });
  });

  it("do not change with a write that is refused", async () => {
    const { store } = subject();
    const collection = freshCollection();
    await create(store, collection, 1, "one");
    await counted(store, collection);
    await store.create(collection, objectOf(2, {}), 1);
    await store.replace(collection, objectOf(1, { longer: "1" }), none);
    await store.replace(collection, objectOf(3, {}), none);
    await store.removeUnchanged(collection, idOf(1), none);
    await store.remove(collection, idOf(3), {});
    await agree(store, collection, 1);
  });

  it("count what was there before in steps, while another replica writes before, at and behind the place of counting", async () => {
    const [store, other] = await twoReplicas(subject());
    const collection = freshCollection();
    const existing = Array.from({ length: 450 }, (_, at) => 2 * at + 2);
    await Promise.all(existing.map((n) => create(store, collection, n, "é".repeat(n % 7))));
    let steps = 0;
    const writing = (async () => {
      for (let n = 1; n < 900; n += 40) {
        await create(other, collection, n, "new");
        await replace(other, collection, n + 3, "changed €");
        expect(await other.remove(collection, idOf(n + 11), {})).toBe(true);
      }
    })();
    while ((await store.countBytes(collection)) === "more") steps += 1;
    await writing;
    expect(steps).toBeLessThan(10);
    expect((await store.collectionSize(collection)).isCounted).toBe(true);
    await agree(store, collection, 450);
    expect(await other.countBytes(collection)).toBe("done");
    await agree(store, collection, 450);
  });

  it("stand at any step for what is counted so far, in order of creation", async () => {
    const [store, other] = await twoReplicas(subject());
    const collection = freshCollection();
    await Promise.all(Array.from({ length: 250 }, (_, at) => create(store, collection, at + 1, "x")));
    const step = await store.countBytes(collection);
    if (step === "done") return;
    expect((await store.collectionSize(collection)).isCounted).toBe(false);
    await other.remove(collection, idOf(1), {});
    await replace(other, collection, 200, "the last one that is counted");
    await replace(other, collection, 201, "the first one that is not");
    await other.remove(collection, idOf(250), {});
    await counted(store, collection);
    await agree(store, collection, 248);
  });

  it("begin anew with a collection that was purged", async () => {
    const { store } = subject();
    const collection = freshCollection();
    for (let n = 1; n <= 3; n += 1) await create(store, collection, n, "to go");
    await counted(store, collection);
    await purgeCollection(store, collection);
    expect(await store.collectionSize(collection)).toMatchObject({ objects: 0, bytes: 0 });
    await create(store, collection, 4, "back");
    await counted(store, collection);
    await agree(store, collection, 1);
  });
}

function describeDocuments(subject: Subject): void {
  it.each<readonly [text: string, members: number]>([
    ['{"a":1,"é":{"b":2,"c":3}}', 2],
    ["{}", 0],
    ['[1,[2,3],{"a":4}]', 3],
    ["[]", 0],
    ['"text"', 0],
    ["null", 0],
  ])("of the document %s are its bytes and the members of its top", async (text, members) => {
    const { store } = subject();
    const document = freshDocument();
    expect(await store.documentSize(document)).toEqual({ bytes: 0, members: 0 });
    await store.initialise(document, text);
    expect(await store.documentSize(document)).toEqual({ bytes: Buffer.byteLength(text), members });
  });

  it("follow every write inside a document, and end with it", async () => {
    const { store } = subject();
    const document = freshDocument();
    await store.initialise(document, "{}");
    await store.insertAt(document, ["a"], "[1,2]", roomy);
    await store.insertAt(document, ["a", "-"], '"é"', roomy);
    await store.putAt(document, ['odd"key\\'], "true", { ...roomy, mayCreate: true });
    await store.removeAt(document, ["a", "0"]);
    const found = await store.readAt(document, []);
    const bytes = Buffer.byteLength("text" in found ? found.text : "");
    expect(await store.documentSize(document)).toEqual({ bytes, members: 2 });
    await purgeDocument(store, document);
    expect(await store.documentSize(document)).toEqual({ bytes: 0, members: 0 });
  });
}

function describeGrowth(subject: Subject): void {
  const unusual = 'odd"key\\';
  const start = `{"a":1,"l":[1],"o":{"b":"text"},${JSON.stringify(unusual)}:"é"}`;
  type Write = (store: Store, document: DocumentRef, maxGrowth: number) => ReturnType<Store["insertAt"]>;
  const put =
    (path: readonly string[], text: string): Write =>
    (store, document, maxGrowth) =>
      store.putAt(document, path, text, { ...roomy, maxGrowth, mayCreate: true });
  const insert =
    (path: readonly string[], text: string): Write =>
    (store, document, maxGrowth) =>
      store.insertAt(document, path, text, { ...roomy, maxGrowth });
  const writes: Readonly<Record<string, readonly [write: Write, growth: number]>> = {
    "a new key": [insert(["é"], "12"), 8],
    "an element at the end": [insert(["l", "-"], "12"), 3],
    "a PUT that adds a key": [put(["o", "c"], "null"), 9],
    "a longer value": [put(["a"], '"€"'), 4],
    "a value of the same length": [put(["a"], "2"), 0],
    "a shorter value": [put(["o"], "{}"), -10],
    "the whole value": [put([], "{}"), 2 - Buffer.byteLength(start)],
    "a longer value at a key that no path can name": [put([unusual], '"éé"'), 2],
    "a new key beside one that no path can name": [
      insert([`${unusual}2`], "1"),
      Buffer.byteLength(`,${JSON.stringify(`${unusual}2`)}:1`),
    ],
  };

  it.each(Object.entries(writes))(
    "grow by %s as the write says, when it may, and else nothing is written",
    async (_, [write, growth]) => {
      const { store } = subject();
      const document = freshDocument();
      await store.initialise(document, start);
      expect(await write(store, document, growth - 1)).toEqual({ outcome: "quota_exceeded" });
      expect(await store.documentSize(document)).toEqual({ bytes: Buffer.byteLength(start), members: 4 });
      expect(await write(store, document, growth)).toMatchObject({ growth });
      expect((await store.documentSize(document)).bytes).toBe(Buffer.byteLength(start) + growth);
    },
  );
}

function describeMembers(subject: Subject): void {
  it.each([
    ['{"a":1,"b":2}', 2],
    ["[1,2,3]", 3],
    ['"text"', 0],
  ])("let the whole of %s be replaced while there is at least what the writer says", async (text, members) => {
    const { store } = subject();
    const document = freshDocument();
    await store.initialise(document, text);
    const put = (minMembers: number) => store.putAt(document, [], '{"z":1}', { ...roomy, mayCreate: true, minMembers });
    expect(await put(members + 1)).toEqual({ outcome: "changed" });
    expect(await store.readAt(document, [])).toEqual({ outcome: "found", text });
    expect(await put(members)).toMatchObject({ outcome: "replaced" });
  });
}

const none = { text: "{}" };

async function create(store: Store, collection: CollectionRef, n: number, text: string): Promise<void> {
  expect((await store.create(collection, objectOf(n, { text: JSON.stringify(text) }), plenty)).outcome).toBe("created");
}

async function replace(store: Store, collection: CollectionRef, n: number, text: string): Promise<void> {
  const previous = await store.read(collection, idOf(n), {});
  if (previous === undefined) throw new Error(`Object ${n} is gone`);
  expect((await store.replace(collection, objectOf(n, { text: JSON.stringify(text) }), previous)).outcome).toBe(
    "replaced",
  );
}

async function counted(store: Store, collection: CollectionRef): Promise<void> {
  while ((await store.countBytes(collection)) === "more");
}

/** The store's sizes are what reading everything says. */
async function agree(store: Store, collection: CollectionRef, objects: number): Promise<void> {
  let bytes = 0;
  for await (const texts of store.scan(collection, {})) for (const text of texts) bytes += Buffer.byteLength(text);
  expect(await store.collectionSize(collection)).toEqual({ objects, bytes, isCounted: true });
}
