// The promises of objects about pages: order by creation and by field over mixed types, exact
// reverse, filters, counts, offsets past the end, and the same under an owner.

import { beforeAll, describe, expect, it } from "vitest";
import { encodeSortValue } from "../../../dataplane/store/order.ts";
import type { Store } from "../../../dataplane/store/port.ts";
import type { FieldQuery, Page } from "../../../dataplane/store/ports/lists.ts";
import type { NewObject } from "../../../dataplane/store/ports/objects.ts";
import type { CollectionRef, Visibility } from "../../../dataplane/store/ports/refs.ts";
import { pageByCreation } from "../../support/store/page-by-creation.ts";
import { idOf, idsIn, objectOf, shuffled } from "../../support/store/stored-objects.ts";
import { freshCollection, type MakeStore, type StoreUnderTest, useStore } from "./fixture.ts";

const plenty = 1_000_000;
type Subject = () => StoreUnderTest;

/**
 * Values in ascending order; texts of one group are equal, so that their objects tie. Undefined =
 * the field is missing.
 */
const orderedGroups: readonly (readonly (string | undefined)[])[] = [
  [undefined, "null"],
  ["false"],
  ["true"],
  ["-1e308"],
  ["-9223372036854775808"],
  ["-9223372036854775807"],
  ["-9007199254740993"],
  ["-9007199254740992", "-9007199254740992.0"],
  ["-2"],
  ["-1.5"],
  ["-1"],
  ["-0.5"],
  ["-5e-324"],
  ["0", "0.0", "-0.0"],
  ["5e-324"],
  ["0.1"],
  ["0.5"],
  ["1", "1.0"],
  ["2"],
  ["9"],
  ["10"],
  ["9007199254740992", "9007199254740992.0"],
  ["9007199254740993"],
  ["9223372036854775807"],
  ["9223372036854775808", "9.223372036854776e18"],
  ["18446744073709551615"],
  ["1e300"],
  ['""'],
  ['"\\u0000"'],
  ['"\\u0000\\u0000"'],
  ['"\\u0001"'],
  ['" "'],
  ['"-"'],
  ['"1"'],
  ['"10"'],
  ['"A"'],
  ['"a"'],
  ['"a\\u0000"'],
  ['"a\\u0000b"'],
  ['"a\\u0001"'],
  ['"a "'],
  ['"aa"'],
  ['"b"'],
  ['"\u007f"'],
  ['"é"'],
  ['"\uffee"'],
  ['"😀"'],
  ["[]", "[1]", '["a"]'],
  ["{}", '{"a":1}'],
];

export function describePages(name: string, make: MakeStore): void {
  describe(`${name}: pages by creation`, () => describeCreationOrder(useStore(make)));
  describe(`${name}: pages by field`, () => describeFieldOrder(useStore(make)));
  describe(`${name}: filtered pages`, () => describeFilters(useStore(make)));
  describe(`${name}: large pages`, () => describeLargePages(useStore(make)));
}

function describeCreationOrder(subject: Subject): void {
  it("pages through objects in order of id, in both directions, whatever the order they arrived in", async () => {
    const { store } = subject();
    const collection = freshCollection();
    const objects = Array.from({ length: 23 }, (_, n) => objectOf(n, {}, n % 3 === 0 ? "user:bob" : "user:alice"));
    for (const object of shuffled(objects)) await store.create(collection, object, plenty);
    const get = (visible: Visibility) => (range: Range) => pageByCreation(store, collection, visible, range);
    await expectPages(get({}), objects);
    await expectPages(
      get({ owner: "user:bob" }),
      objects.filter(({ owner }) => owner === "user:bob"),
    );
    await expectPages(
      get({ owner: "user:alice" }),
      objects.filter(({ owner }) => owner === "user:alice"),
    );
  });

  it("scans in order of id", async () => {
    const { store } = subject();
    const collection = freshCollection();
    const objects = Array.from({ length: 500 }, (_, n) => objectOf(n, {}, n % 2 === 0 ? "user:bob" : "user:alice"));
    await Promise.all(shuffled(objects).map((object) => store.create(collection, object, plenty)));
    expect(idsIn(await scanned(store, collection, {}))).toEqual(objects.map(({ id }) => id));
    const bobs = objects.filter(({ owner }) => owner === "user:bob");
    expect(idsIn(await scanned(store, collection, { owner: "user:bob" }))).toEqual(bobs.map(({ id }) => id));
  });
}

function describeFieldOrder(subject: Subject): void {
  let collection: CollectionRef;
  let ordered: readonly NewObject[];

  beforeAll(async () => {
    const { store } = subject();
    collection = freshCollection();
    await store.declareIndexes(
      collection,
      [
        { name: "value", path: ["value"] },
        { name: "in.ner", path: ["in", "ner"] },
      ],
      1,
    );
    const groups = orderedGroups.map((group) => [...group, ...group]);
    const positions = shuffled(
      groups.flatMap((group, position) => group.map((text) => ({ text, position }))),
      3,
    );
    const placed = positions.map(({ text, position }, n) => ({
      position,
      object: objectOf(n, fieldsOf(text), n % 2 === 0 ? "user:bob" : "user:alice"),
    }));
    await Promise.all(placed.map(({ object }) => store.create(collection, object, plenty)));
    ordered = placed
      .sort((a, b) => a.position - b.position || (a.object.id < b.object.id ? -1 : 1))
      .map(({ object }) => object);
  });

  for (const index of ["value", "in.ner"]) {
    it(`sorts every type by ${index}, ties by id, and descending as the exact reverse`, async () => {
      await expectPages(fieldPages(subject().store, collection, {}, { index }), ordered, [0, 1, 7, 50, 99]);
    });

    it(`sorts one owner's objects by ${index} in the same way`, async () => {
      for (const owner of ["user:alice", "user:bob"]) {
        const own = ordered.filter((object) => object.owner === owner);
        await expectPages(fieldPages(subject().store, collection, { owner }, { index }), own, [0, 1, 7, 49]);
      }
    });
  }

  it("follows every value when it is filtered for: the page, its order and its count", async () => {
    const { store } = subject();
    for (const group of orderedGroups) {
      for (const text of group) {
        const equals = encodeSortValue(text);
        const matching = ordered.filter((object) => group.some((value) => object.text === withValue(object, value)));
        expect(matching.length).toBeGreaterThanOrEqual(2);
        const query = { index: "value", equals };
        await expectPages(fieldPages(store, collection, {}, query), matching, [0]);
        const own = matching.filter(({ owner }) => owner === "user:bob");
        await expectPages(fieldPages(store, collection, { owner: "user:bob" }, query), own, [0]);
      }
    }
  });

  it("ties strings that share their first 1,024 bytes", async () => {
    const { store } = subject();
    const other = freshCollection();
    await store.declareIndexes(other, [{ name: "value", path: ["value"] }], 1);
    const prefix = "é".repeat(512);
    const values = ["z", "a", "", "m"].map((rest) => JSON.stringify(prefix + rest));
    const objects = values.map((value, n) => objectOf(n, { value }));
    const before = objectOf(9, { value: JSON.stringify("é".repeat(511)) });
    for (const object of shuffled([...objects, before])) await store.create(other, object, plenty);
    await expectPages(fieldPages(store, other, {}, { index: "value" }), [before, ...objects]);
  });
}

function describeFilters(subject: Subject): void {
  const fields = [
    { name: "shelf", path: ["shelf"] },
    { name: "a.b", path: ["a.b"] },
  ];

  it("tells values apart of which one begins with the other, and owners likewise", async () => {
    const { store } = subject();
    const collection = freshCollection();
    await store.declareIndexes(collection, fields, 1);
    const values = ["a", "ab", "a b", "a0", "a 0 b", "", "0"];
    const owners = ["user:a", "user:a 0 b", "user:ab"];
    const objects = values.flatMap((value, v) =>
      owners.map((owner, o) => objectOf(v * 10 + o, { shelf: JSON.stringify(value), "a.b": "1" }, owner)),
    );
    for (const object of shuffled(objects)) await store.create(collection, object, plenty);
    for (const value of values) {
      const query = { index: "shelf", equals: encodeSortValue(JSON.stringify(value)) };
      const matching = objects.filter(({ text }) => text.includes(`"shelf":${JSON.stringify(value)},`));
      expect(matching).toHaveLength(3);
      await expectPages(fieldPages(store, collection, {}, query), matching);
      for (const owner of owners) {
        await expectPages(
          fieldPages(store, collection, { owner }, query),
          matching.filter((object) => object.owner === owner),
        );
      }
    }
    await expectPages(
      fieldPages(store, collection, {}, { index: "a.b", equals: encodeSortValue("1") }),
      objects,
      [0, 10],
    );
  });

  it("follows replaces and removes", async () => {
    const { store } = subject();
    const collection = freshCollection();
    await store.declareIndexes(collection, fields, 1);
    const objects = Array.from({ length: 12 }, (_, n) => objectOf(n, { shelf: '"old"' }));
    for (const object of objects) await store.create(collection, object, plenty);
    for (const n of [1, 3, 5])
      await store.replace(collection, objectOf(n, { shelf: '"new"' }), objectOf(n, { shelf: '"old"' }));
    await store.replace(collection, objectOf(7, {}), objectOf(7, { shelf: '"old"' }));
    await store.remove(collection, idOf(0), {});
    await store.remove(collection, idOf(3), {});
    const page = async (value: string | undefined, owner?: string) =>
      idsOf(store, collection, owner, { index: "shelf", equals: encodeSortValue(value) });
    for (const owner of [undefined, "user:alice"]) {
      expect(await page('"new"', owner)).toEqual([1, 5].map(idOf));
      expect(await page('"old"', owner)).toEqual([2, 4, 6, 8, 9, 10, 11].map(idOf));
      expect(await page(undefined, owner)).toEqual([7].map(idOf));
      expect(await page('"none"', owner)).toEqual([]);
    }
  });
}

function describeLargePages(subject: Subject): void {
  it("returns a page of more than 4 MiB whole, and scans it in batches of at most 4 MiB", async () => {
    const { store } = subject();
    const collection = freshCollection();
    await store.declareIndexes(collection, [{ name: "n", path: ["n"] }], 1);
    const objects = Array.from({ length: 12 }, (_, n) =>
      objectOf(n, { n: String(n), x: JSON.stringify("é".repeat(300_000)) }),
    );
    for (const object of objects) await store.create(collection, object, plenty);
    const ids = objects.map(({ id }) => id);
    const range = { offset: 0, limit: 100, descending: false };
    expect(idsIn((await pageByCreation(store, collection, {}, range)).texts)).toEqual(ids);
    expect(await idsOf(store, collection, undefined, { index: "n" })).toEqual(ids);
    const cut = await pageByCreation(store, collection, {}, { ...range, maxBytes: 2_000_000 });
    expect(cut).toMatchObject({ count: 12, isCut: true });
    expect(cut.texts.length).toBeLessThan(12);
    const whole = await store.pageByField(collection, {}, { index: "n" }, { ...range, maxBytes: 8_000_000 });
    expect(whole).not.toHaveProperty("isCut");
    let seen: string[] = [];
    for await (const batch of store.scan(collection, {})) {
      expect(Buffer.byteLength(batch.join(""))).toBeLessThanOrEqual(4 * 1024 * 1024);
      seen = [...seen, ...idsIn(batch)];
    }
    expect(seen).toEqual(ids);
  });
}

interface Range {
  readonly offset: number;
  readonly limit: number;
  readonly descending: boolean;
}

/**
 * Reads `expected` in pages of several sizes, from the start and from some offsets, both ways, and
 * past the end.
 */
async function expectPages(
  get: (range: Range) => Promise<Page>,
  expected: readonly NewObject[],
  offsets = [0, 1, 2, 5],
): Promise<void> {
  for (const descending of [false, true]) {
    const texts = expected.map(({ text }) => text);
    if (descending) texts.reverse();
    for (const offset of [...offsets, texts.length, texts.length + 1_000_000]) {
      for (const limit of [1, 10, 1_000]) {
        const page = await get({ offset, limit, descending });
        expect({ ...page, texts: idsIn(page.texts) }).toMatchObject({
          count: texts.length,
          texts: idsIn(texts.slice(offset, offset + limit)),
        });
        expect(page.texts).toEqual(texts.slice(offset, offset + limit));
      }
    }
  }
}

function fieldPages(
  store: Store,
  collection: CollectionRef,
  visible: Visibility,
  query: FieldQuery,
): (range: Range) => Promise<Page> {
  return async (range) => {
    const page = await store.pageByField(collection, visible, query, range);
    if (page.outcome === "not_ready") throw new Error(`The index ${query.index} is not ready`);
    return { count: page.count, texts: page.texts };
  };
}

async function idsOf(
  store: Store,
  collection: CollectionRef,
  owner: string | undefined,
  query: FieldQuery,
): Promise<string[]> {
  const page = await fieldPages(
    store,
    collection,
    owner === undefined ? {} : { owner },
    query,
  )({ offset: 0, limit: 1_000, descending: false });
  expect(page.count).toBe(page.texts.length);
  return idsIn(page.texts);
}

async function scanned(store: Store, collection: CollectionRef, visible: Visibility): Promise<string[]> {
  const texts: string[] = [];
  for await (const batch of store.scan(collection, visible)) texts.push(...batch);
  return texts;
}

function fieldsOf(text: string | undefined): Record<string, string> {
  return text === undefined ? { in: "{}" } : { value: text, in: `{"ner":${text}}` };
}

function withValue(object: NewObject, text: string | undefined): string {
  return objectOf(Number.parseInt(object.id.slice(-12), 16), fieldsOf(text), object.owner).text;
}
