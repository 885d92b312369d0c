// Receipts of writes: left in the very step that writes, found by whoever repeats it, on any
// replica, until they expire.

import { describe, expect, it } from "vitest";
import type { IdempotencyRecord } from "../../../dataplane/store/ports/idempotency.ts";
import { idOf, objectOf } from "../../support/store/stored-objects.ts";
import { eventually } from "../../support/time/eventually.ts";
import { documentOf, textAt } from "./document-steps.ts";
import {
  freshCollection,
  freshDocument,
  freshProject,
  type MakeStore,
  pass,
  type StoreUnderTest,
  twoReplicas,
  useStore,
} from "./fixture.ts";

type Subject = () => StoreUnderTest;

const maxBytes = 1024 * 1024;
const recordOf = (key: string, text = "first", seconds = 1_000): IdempotencyRecord => ({ key, text, seconds });
const repeated = { outcome: "repeated", record: "first" } as const;

export function describeIdempotencyRecords(name: string, make: MakeStore): void {
  describe(`${name}: idempotency records`, () => {
    const subject = useStore(make);
    describeCreates(subject);
    describeInserts(subject);
    describePlaces(subject);
  });
}

function describeCreates(subject: Subject): void {
  it("of a create tell its repetition, which writes nothing, from a new one", async () => {
    const [one, two] = await twoReplicas(subject());
    const collection = freshCollection();
    const objects = [1, 2, 3].map((n) => objectOf(n, { n: String(n) }));
    const create = (store: typeof one, n: 0 | 1 | 2, key: string, text?: string) =>
      store.create(collection, { ...(objects[n] as (typeof objects)[number]), record: recordOf(key, text) }, 10);
    expect(await create(one, 0, "a")).toEqual({ outcome: "created", text: objects[0]?.text });
    expect(await create(two, 1, "a", "second")).toEqual(repeated);
    expect(await create(one, 1, "a", "second")).toEqual(repeated);
    expect(await two.idempotencyRecord(collection, "a")).toBe("first");
    expect(await two.idempotencyRecord(collection, "b")).toBeUndefined();
    expect(await create(two, 2, "b")).toMatchObject({ outcome: "created" });
    expect(await one.count(collection, {})).toBe(2);
    expect(await one.read(collection, idOf(2), {})).toBeUndefined();
  });

  it("of a create are left once when many come with one key at the same time", async () => {
    const stores = await twoReplicas(subject());
    const collection = freshCollection();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        stores[n % 2 === 0 ? 0 : 1].create(collection, { ...objectOf(n, {}), record: recordOf("a", `${n}`) }, 100),
      ),
    );
    const winner = answers.findIndex(({ outcome }) => outcome === "created");
    const others = answers.filter((_, n) => n !== winner);
    expect(others).toEqual(Array(19).fill({ outcome: "repeated", record: String(winner) }));
    expect(await stores[0].count(collection, {})).toBe(1);
  });

  it("are not left by a create that is refused", async () => {
    const { store } = subject();
    const collection = freshCollection();
    await store.create(collection, objectOf(1, {}), 1);
    const refused = await store.create(collection, { ...objectOf(2, {}), record: recordOf("a") }, 1);
    expect(refused).toEqual({ outcome: "quota_exceeded" });
    expect(await store.idempotencyRecord(collection, "a")).toBeUndefined();
    const made = await store.create(collection, { ...objectOf(2, {}), record: recordOf("a") }, 2);
    expect(made.outcome).toBe("created");
    // Full again: the repetition does not need room.
    expect(await store.create(collection, { ...objectOf(3, {}), record: recordOf("a") }, 2)).toEqual(repeated);
  });

  it("go after their time", async () => {
    const { store } = subject();
    const collection = freshCollection();
    const create = (n: number) =>
      store.create(collection, { ...objectOf(n, {}), record: recordOf("a", "first", 5) }, 10);
    await create(1);
    expect(await create(2)).toEqual(repeated);
    await pass(subject(), 5_100);
    await eventually(async () => expect(await store.idempotencyRecord(collection, "a")).toBeUndefined());
    expect((await create(3)).outcome).toBe("created");
    expect(await store.count(collection, {})).toBe(2);
  });
}

function describeInserts(subject: Subject): void {
  for (const [what, at] of [
    ["a key", ["o", "k"]],
    ["an element", ["l", "0"]],
    ["an element at the end", ["l", "-"]],
    ["a key that no path can name", ["o", 'k"']],
    ["an element below such a key", ['q"', "0"]],
  ] as const) {
    it(`of an insert of ${what} tell its repetition, which writes nothing, from a new one`, async () => {
      const [one, two] = await twoReplicas(subject());
      const document = await documentOf(one, '{"o":{},"l":[],"q\\"":[]}');
      const insert = (store: typeof one, text: string, key: string) =>
        store.insertAt(document, at, text, { maxBytes, record: recordOf(key) });
      expect(await insert(one, "1", "a")).toEqual({ outcome: "created", text: "1" });
      const after = await textAt(one, document);
      expect(await insert(two, "2", "a")).toEqual(repeated);
      expect(await two.idempotencyRecord(document, "a")).toBe("first");
      expect(await textAt(two, document)).toBe(after);
      await two.removeAt(document, at.at(-1) === "-" ? ["l", "0"] : at);
      expect(await insert(two, "2", "a")).toEqual(repeated);
      expect(await insert(one, "3", "b")).toEqual({ outcome: "created", text: "3" });
    });
  }

  it("are not left by an insert that is refused", async () => {
    const { store } = subject();
    const document = await documentOf(store, '{"o":{"k":1},"q\\"":{"k":1}}');
    const record = recordOf("a");
    for (const parent of ["o", 'q"']) {
      expect(await store.insertAt(document, [parent, "k"], "2", { maxBytes, record })).toEqual({
        outcome: "key_exists",
      });
      expect(await store.insertAt(document, [parent, "n"], "2", { maxBytes: 5, record })).toEqual({
        outcome: "document_too_large",
      });
      const changed = await store.insertAt(document, [parent, "n"], "2", { maxBytes, record, expected: "never" });
      expect(changed).toEqual({ outcome: "changed" });
    }
    expect(await store.insertAt(freshDocument(), ["k"], "2", { maxBytes, record })).toEqual({
      outcome: "missing_document",
    });
    expect(await store.idempotencyRecord(document, "a")).toBeUndefined();
  });

  it("come before what is expected and before every refusal of the path", async () => {
    const { store } = subject();
    const document = await documentOf(store, "{}");
    const record = recordOf("a");
    await store.insertAt(document, ["k"], "1", { maxBytes, record });
    expect(await store.insertAt(document, ["k"], "1", { maxBytes, record })).toEqual(repeated);
    expect(await store.insertAt(document, ["k"], "1", { maxBytes, record, expected: "nothing" })).toEqual(repeated);
  });
}

function describePlaces(subject: Subject): void {
  it("belong to their collection or root key, and to their project", async () => {
    const { store } = subject();
    const project = freshProject();
    const collection = { project, resource: "same" };
    const document = { project, rootKey: "same" };
    const record = recordOf("a");
    await store.create(collection, { ...objectOf(1, {}), record }, 10);
    expect(await store.idempotencyRecord(document, "a")).toBeUndefined();
    await store.initialise(document, "{}");
    expect((await store.insertAt(document, ["k"], "1", { maxBytes, record })).outcome).toBe("created");
    for (const other of [
      { project, resource: "other" },
      { project: freshProject(), resource: "same" },
    ]) {
      expect(await store.idempotencyRecord(other, "a")).toBeUndefined();
      expect((await store.create(other, { ...objectOf(1, {}), record }, 10)).outcome).toBe("created");
    }
  });
}
