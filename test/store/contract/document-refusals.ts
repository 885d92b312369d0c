// When a write of a document is refused, with which outcome, and which refusal wins where several
// apply. A refused call changes nothing.

import { describe, expect, it } from "vitest";
import type { Store } from "../../../dataplane/store/port.ts";
import type { DocumentRefusal } from "../../../dataplane/store/ports/documents.ts";
import type { Path } from "../../../dataplane/store/ports/refs.ts";
import { documentOf, textAt } from "./document-steps.ts";
import { freshDocument, type MakeStore, type StoreUnderTest, useStore } from "./fixture.ts";

const roomy = { maxBytes: 1024 * 1024 };
const mayCreate = { ...roomy, mayCreate: true };
const mayReplace = { ...roomy, mayCreate: false };
type Subject = () => StoreUnderTest;

const value = '{"s":"text","n":null,"o":{"k":1},"l":[10,[20],{"x":1}],"e":[]}';

interface Refused {
  readonly what: string;
  readonly path: Path;
  readonly answer: DocumentRefusal;
}

const refusedInserts: readonly Refused[] = [
  { what: "an existing key", path: ["o", "k"], answer: { outcome: "key_exists" } },
  { what: "an existing key of the root", path: ["n"], answer: { outcome: "key_exists" } },
  { what: "a missing parent", path: ["none", "k"], answer: { outcome: "parent_not_found" } },
  { what: "a missing grandparent", path: ["none", "none", "k"], answer: { outcome: "parent_not_found" } },
  { what: "a missing element as parent", path: ["l", "3", "k"], answer: { outcome: "parent_not_found" } },
  { what: "- as an earlier segment of an array", path: ["l", "-", "k"], answer: { outcome: "parent_not_found" } },
  { what: "text as an earlier segment of an array", path: ["l", "x", "k"], answer: { outcome: "parent_not_found" } },
  { what: "01 as an earlier segment of an array", path: ["l", "01", "0"], answer: { outcome: "parent_not_found" } },
  { what: "a string as parent", path: ["s", "k"], answer: { outcome: "not_a_container" } },
  { what: "a string as parent of an index", path: ["s", "0"], answer: { outcome: "not_a_container" } },
  { what: "null as parent", path: ["n", "k"], answer: { outcome: "not_a_container" } },
  { what: "a number in an array as parent", path: ["l", "0", "0"], answer: { outcome: "not_a_container" } },
  { what: "a path further below a scalar", path: ["s", "a", "b"], answer: { outcome: "not_a_container" } },
  { what: "an index past the end", path: ["l", "4"], answer: { outcome: "index_out_of_range", length: 3 } },
  {
    what: "an index past the end of an empty array",
    path: ["e", "1"],
    answer: { outcome: "index_out_of_range", length: 0 },
  },
  { what: "an index of 30 digits", path: ["l", "9".repeat(30)], answer: { outcome: "index_out_of_range", length: 3 } },
  {
    what: "an index of 2^64",
    path: ["l", "18446744073709551616"],
    answer: { outcome: "index_out_of_range", length: 3 },
  },
  {
    what: "an index past the end of an inner array",
    path: ["l", "1", "2"],
    answer: { outcome: "index_out_of_range", length: 1 },
  },
];

const refusedPuts: readonly Refused[] = [
  { what: "a missing parent", path: ["none", "k"], answer: { outcome: "parent_not_found" } },
  { what: "a missing element as parent", path: ["l", "3", "k"], answer: { outcome: "parent_not_found" } },
  { what: "a string as parent", path: ["s", "k"], answer: { outcome: "not_a_container" } },
  { what: "null as parent", path: ["n", "k"], answer: { outcome: "not_a_container" } },
  { what: "a path further below a scalar", path: ["n", "a", "b"], answer: { outcome: "not_a_container" } },
  { what: "an index that is the length", path: ["l", "3"], answer: { outcome: "index_not_found", length: 3 } },
  { what: "an index of 30 digits", path: ["l", "9".repeat(30)], answer: { outcome: "index_not_found", length: 3 } },
  { what: "index 0 of an empty array", path: ["e", "0"], answer: { outcome: "index_not_found", length: 0 } },
  { what: "- on an array", path: ["l", "-"], answer: { outcome: "invalid_index" } },
];

const notIndexes = [
  "x",
  "",
  "01",
  "00",
  "-0",
  "-1",
  "+1",
  "1.0",
  "1e0",
  " 1",
  "1 ",
  "0x1",
  "१",
  "constructor",
  "length",
];

const missing: readonly Path[] = [
  ["none"],
  ["none", "none"],
  ["o", "none"],
  ["o", "k", "below"],
  ["s", "0"],
  ["s", "length"],
  ["n", "k"],
  ["n", "a", "b"],
  ["l", "3"],
  ["l", "9".repeat(30)],
  ["l", "3", "k"],
  ["l", "x", "k"],
  ["e", "0"],
];

export function describeDocumentRefusals(name: string, make: MakeStore): void {
  describe(`${name}: refusals of documents`, () => {
    const subject = useStore(make);
    describeTables(subject);
    describeMissingDocument(subject);
    describeLimits(subject);
    describePrecedence(subject);
  });
}

function describeTables(subject: Subject): void {
  for (const { what, path, answer } of refusedInserts) {
    it(`refuses to insert at ${what}`, () =>
      unchanged((store, document) => store.insertAt(document, path, "1", roomy), answer));
  }
  for (const { what, path, answer } of refusedPuts) {
    it(`refuses to put at ${what}, whether it may create or not`, async () => {
      await unchanged((store, document) => store.putAt(document, path, "1", mayCreate), answer);
      await unchanged((store, document) => store.putAt(document, path, "1", mayReplace), answer);
    });
  }
  for (const segment of notIndexes) {
    it(`takes ${JSON.stringify(segment)} for no index of an array`, async () => {
      const answer = { outcome: "invalid_index" } as const;
      await unchanged((store, document) => store.insertAt(document, ["l", segment], "1", roomy), answer);
      await unchanged((store, document) => store.putAt(document, ["l", segment], "1", mayCreate), answer);
      await unchanged((store, document) => store.removeAt(document, ["l", segment]), answer);
      await unchanged((store, document) => store.readAt(document, ["l", segment]), { outcome: "not_found" });
    });
  }
  for (const path of missing) {
    it(`finds nothing to read or remove at ${path.map((segment) => `/${segment}`).join("")}`, async () => {
      await unchanged((store, document) => store.readAt(document, path), { outcome: "not_found" });
      await unchanged((store, document) => store.removeAt(document, path), { outcome: "not_found" });
    });
  }
  it("refuses to add a key by put without the right to create", () =>
    unchanged((store, document) => store.putAt(document, ["o", "new"], "1", mayReplace), {
      outcome: "create_refused",
    }));

  async function unchanged(
    call: (store: Store, document: ReturnType<typeof freshDocument>) => Promise<unknown>,
    answer: unknown,
  ): Promise<void> {
    const { store } = subject();
    const document = await documentOf(store, value);
    expect(await call(store, document)).toEqual(answer);
    expect(await textAt(store, document)).toBe(value);
  }
}

function describeMissingDocument(subject: Subject): void {
  it("tells a root key without any value from a missing path, and writes nothing there", async () => {
    const { store } = subject();
    const document = freshDocument();
    const answer = { outcome: "missing_document" };
    expect(await store.readAt(document, [])).toEqual(answer);
    expect(await store.readAt(document, ["a", "b"])).toEqual(answer);
    expect(await store.insertAt(document, ["a"], "1", roomy)).toEqual(answer);
    expect(await store.insertAt(document, ["a", "b"], "1", { maxBytes: 1 })).toEqual(answer);
    expect(await store.putAt(document, [], "1", mayCreate)).toEqual(answer);
    expect(await store.putAt(document, ["a"], "1", mayReplace)).toEqual(answer);
    expect(await store.removeAt(document, ["a"])).toEqual(answer);
    expect(await store.initialise(document, "{}")).toBe(true);
  });
}

function describeLimits(subject: Subject): void {
  /** Each write makes `{"a":"é"}` longer. */
  const writes: Readonly<
    Record<string, (store: Store, document: ReturnType<typeof freshDocument>, maxBytes: number) => Promise<unknown>>
  > = {
    "an insert into an object": (store, document, maxBytes) =>
      store.insertAt(document, ["b"], '"éé"', { maxBytes }).then(outcomeOf),
    "a put of a new key": (store, document, maxBytes) =>
      store.putAt(document, ["b"], '"éé"', { maxBytes, mayCreate: true }).then(outcomeOf),
    "a put over a value": (store, document, maxBytes) =>
      store.putAt(document, ["a"], '"éééééé1"', { maxBytes, mayCreate: false }).then(outcomeOf),
    "a put over the whole value": (store, document, maxBytes) =>
      store.putAt(document, [], '["ééé","éééé"]', { maxBytes, mayCreate: false }).then(outcomeOf),
  };
  for (const [what, write] of Object.entries(writes)) {
    it(`allows ${what} up to the limit in bytes, and refuses one byte more`, async () => {
      const { store } = subject();
      const document = await documentOf(store, '{"a":"é"}');
      expect(await write(store, document, 1_000)).not.toBe("document_too_large");
      const size = Buffer.byteLength(await textAt(store, document));
      await store.putAt(document, [], '{"a":"é"}', mayReplace);
      expect(await write(store, document, size - 1)).toBe("document_too_large");
      expect(await textAt(store, document)).toBe('{"a":"é"}');
      expect(await write(store, document, size)).not.toBe("document_too_large");
      expect(Buffer.byteLength(await textAt(store, document))).toBe(size);
    });
  }

  it("holds the limit exactly for an insert into an array and below odd keys", async () => {
    const { store } = subject();
    const document = await documentOf(store, '{"l":[1],"a\\\\b":{}}');
    const size = Buffer.byteLength('{"l":[1],"a\\\\b":{}}');
    expect(await store.insertAt(document, ["l", "0"], "22", { maxBytes: size + 2 })).toEqual({
      outcome: "document_too_large",
    });
    expect(await store.insertAt(document, ["l", "0"], "22", { maxBytes: size + 3 })).toMatchObject({
      outcome: "created",
    });
    expect(await store.insertAt(document, ["a\\b", "c\\d"], "1", { maxBytes: size + 3 + 7 })).toEqual({
      outcome: "document_too_large",
    });
    expect(await store.insertAt(document, ["a\\b", "c\\d"], "1", { maxBytes: size + 3 + 8 })).toMatchObject({
      outcome: "created",
    });
    expect(await textAt(store, document)).toBe('{"l":[22,1],"a\\\\b":{"c\\\\d":1}}');
  });

  it("takes a document of 8 MiB and refuses one byte more", async () => {
    const { store } = subject();
    const maxBytes = 8 * 1024 * 1024;
    const document = await documentOf(store, "{}");
    const text = `{"x":"${"a".repeat(maxBytes - 8)}"}`;
    expect((await store.putAt(document, [], text, { maxBytes, mayCreate: false })).outcome).toBe("replaced");
    expect(await store.putAt(document, [], text.replace('"}', 'a"}'), { maxBytes, mayCreate: false })).toEqual({
      outcome: "document_too_large",
    });
    expect(await store.insertAt(document, ["y"], "1", { maxBytes })).toEqual({ outcome: "document_too_large" });
    expect((await textAt(store, document)) === text).toBe(true);
  });

  it("allows 64 levels of nesting, wherever they are added, and refuses the 65th", async () => {
    const { store } = subject();
    const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
    const document = await documentOf(store, '{"o":{},"l":[],"a\\\\b":{}}');
    for (const path of [
      ["o", "k"],
      ["a\\b", "k"],
    ]) {
      expect(await store.insertAt(document, path, nested(63), roomy)).toEqual({ outcome: "too_deep" });
      expect(await store.putAt(document, path, nested(63), mayCreate)).toEqual({ outcome: "too_deep" });
      expect(await store.insertAt(document, path, nested(62), roomy)).toEqual({ outcome: "created", text: nested(62) });
      expect(await store.putAt(document, path, nested(63), mayReplace)).toEqual({ outcome: "too_deep" });
      expect(await store.putAt(document, path, nested(62), mayReplace)).toEqual({
        outcome: "replaced",
        text: nested(62),
      });
    }
    expect(await store.insertAt(document, ["l", "-"], nested(63), roomy)).toEqual({ outcome: "too_deep" });
    expect(await store.insertAt(document, ["l", "-"], nested(62), roomy)).toEqual({
      outcome: "created",
      text: nested(62),
    });
    expect(await store.putAt(document, ["o"], nested(64), mayReplace)).toEqual({ outcome: "too_deep" });
    expect(await store.putAt(document, [], nested(65), mayReplace)).toEqual({ outcome: "too_deep" });
    expect(await store.putAt(document, [], nested(64), mayReplace)).toEqual({ outcome: "replaced", text: nested(64) });
    const bottom = Array.from({ length: 64 }, () => "0");
    expect(await store.insertAt(document, bottom, "1", roomy)).toEqual({ outcome: "created", text: "1" });
    expect(await store.putAt(document, bottom, "{}", mayReplace)).toEqual({ outcome: "too_deep" });
    expect(await textAt(store, document, bottom)).toBe("1");
  });
}

function describePrecedence(subject: Subject): void {
  const tiny = { maxBytes: 1 };
  const deep = "[".repeat(64) + "]".repeat(64);

  it("refuses for depth first, whatever is stored", async () => {
    const { store } = subject();
    const document = await documentOf(store, value);
    const answer = { outcome: "too_deep" };
    for (const path of [
      ["o", "k"],
      ["l", "9"],
      ["l", "x"],
      ["none", "k"],
      ["s", "k"],
    ]) {
      expect(await store.insertAt(document, path, deep, tiny)).toEqual(answer);
      expect(await store.putAt(document, path, deep, { ...tiny, mayCreate: false })).toEqual(answer);
    }
    expect(await store.putAt(freshDocument(), [], `[${deep}]`, mayCreate)).toEqual(answer);
    expect(await store.insertAt(freshDocument(), ["k"], deep, roomy)).toEqual(answer);
    expect(await textAt(store, document)).toBe(value);
  });

  it("refuses then for the path, then for the right to create, and for size at last", async () => {
    const { store } = subject();
    const document = await documentOf(store, value);
    expect(await store.insertAt(document, ["o", "k"], "1", tiny)).toEqual({ outcome: "key_exists" });
    expect(await store.insertAt(document, ["l", "9"], "1", tiny)).toEqual({ outcome: "index_out_of_range", length: 3 });
    expect(await store.insertAt(document, ["l", "x"], "1", tiny)).toEqual({ outcome: "invalid_index" });
    expect(await store.insertAt(document, ["none", "k"], "1", tiny)).toEqual({ outcome: "parent_not_found" });
    expect(await store.insertAt(document, ["s", "k"], "1", tiny)).toEqual({ outcome: "not_a_container" });
    const put = (path: Path, mayCreate: boolean) => store.putAt(document, path, "1", { ...tiny, mayCreate });
    expect(await put(["s", "k"], false)).toEqual({ outcome: "not_a_container" });
    expect(await put(["l", "3"], false)).toEqual({ outcome: "index_not_found", length: 3 });
    expect(await put(["o", "new"], false)).toEqual({ outcome: "create_refused" });
    expect(await put(["o", "new"], true)).toEqual({ outcome: "document_too_large" });
    expect(await put(["o", "k"], false)).toEqual({ outcome: "document_too_large" });
    expect(await textAt(store, document)).toBe(value);
  });
}

function outcomeOf(answer: { readonly outcome: string }): string {
  return answer.outcome;
}
