// The promises of objects about ranges of an index: pages by several of them, walks by position,
// candidates, and reading objects by id.

import { beforeAll, describe, expect, it } from "vitest";
import type { IndexField } from "../../../core/config/types.ts";
import { compareEncoded, encodeSortValue } from "../../../dataplane/store/order.ts";
import type { Store } from "../../../dataplane/store/port.ts";
import type { FieldQuery, KeysetPage, Position } from "../../../dataplane/store/ports/lists.ts";
import type { NewObject } from "../../../dataplane/store/ports/objects.ts";
import type { CollectionRef, Visibility } from "../../../dataplane/store/ports/refs.ts";
import {
  allValues,
  complement,
  equalTo,
  greaterThan,
  lessThan,
  union,
  type ValueRange,
} from "../../../dataplane/store/ranges.ts";
import { idOf, idsIn, objectOf, shuffled } from "../../support/store/stored-objects.ts";
import { freshCollection, type MakeStore, type StoreUnderTest, twoReplicas, useStore } from "./fixture.ts";

const plenty = 1_000_000;
type Subject = () => StoreUnderTest;

const value: IndexField = { name: "value", path: ["value"] };
const both: IndexField = {
  name: "value,other",
  path: ["value"],
  parts: [value, { name: "other", path: ["other"] }],
};
const values = ["null", "false", "true", "-5", "0", "7", '""', '"a"', '"ab"', '"b"', '"\\u0000"', '"😀"', "[]"];

export function describeRanges(name: string, make: MakeStore): void {
  describe(`${name}: ranges of an index`, () => describeQueries(useStore(make)));
  describe(`${name}: reading by id`, () => describeReading(useStore(make)));
}

function describeQueries(subject: Subject): void {
  let collection: CollectionRef;
  const objects = [...values, ...values].map((text, n) =>
    objectOf(n, { value: text, other: String(n % 3) }, n % 3 === 0 ? "user:bob" : "user:alice"),
  );
  const textOf = (object: NewObject) => values[Number.parseInt(object.id.slice(-12), 16) % values.length];
  const ordered = objects.toSorted(
    (x, y) => compareEncoded(encodeSortValue(textOf(x)), encodeSortValue(textOf(y))) || (x.id < y.id ? -1 : 1),
  );

  beforeAll(async () => {
    const { store } = subject();
    collection = freshCollection();
    await store.declareIndexes(collection, [value, both], 1);
    for (const object of shuffled(objects)) await store.create(collection, object, plenty);
  });

  const cases: readonly (readonly [string, readonly ValueRange[], (text: string) => boolean])[] = [
    ["all values", allValues, () => true],
    ["nothing", [], () => false],
    ["numbers above -5", [greaterThan(encodeSortValue("-5"), false)], (text) => text === "0" || text === "7"],
    ["strings up to ab", [lessThan(encodeSortValue('"ab"'), true)], (text) => /^"(|a|ab|\\u0000)"$/.test(text)],
    ["all but one", complement([equalTo(encodeSortValue('"a"'))]), (text) => text !== '"a"'],
    [
      "several",
      union(['"😀"', "true", "7", '""'].map((text) => equalTo(encodeSortValue(text)))),
      (text) => ['"😀"', "true", "7", '""'].includes(text),
    ],
  ];
  const visibilities: readonly Visibility[] = [
    {},
    { owner: "user:alice" },
    { owner: "user:bob" },
    { owner: "user:none" },
  ];

  const ways = product(visibilities, [false, true]).map(([visible, descending]) => ({ visible, descending }));

  for (const [what, ranges, matches] of cases) {
    const expected = ({ owner }: Visibility) =>
      ordered.filter((object) => matches(textOf(object) ?? "") && (owner === undefined || object.owner === owner));

    const query: FieldQuery = { index: "value", ranges };

    it.each(ways)(`pages through ${what}, counts it, and reverses it exactly: %j`, async ({ visible, descending }) => {
      const all = idsOf(expected(visible), descending);
      for (const [offset, limit] of product([0, 1, 5, all.length, 1_000], [0, 1, 4, 1_000])) {
        const page = await subject().store.pageByField(collection, visible, query, { offset, limit, descending });
        expect(page).toMatchObject({ outcome: "page", count: all.length });
        expect("texts" in page && idsIn(page.texts)).toEqual(all.slice(offset, offset + limit));
      }
    });

    it.each(ways)(`walks through ${what}: %j`, async ({ visible, descending }) => {
      const all = idsOf(expected(visible), descending);
      for (const limit of [1, 4, 1_000]) {
        const walked = await walkAll(subject().store, collection, { visible, query, descending, limit });
        expect(walked).toEqual({ ids: all, counts: new Set([all.length]) });
      }
    });

    it.each(visibilities)(`names the candidates of ${what}: %j`, async (visible) => {
      const { store } = subject();
      const all = idsOf(expected(visible), false);
      const found = await store.candidates(collection, visible, [query], 100);
      expect("ids" in found && found.ids.toSorted()).toEqual(all.toSorted());
      const few = await store.candidates(collection, visible, [query], Math.max(0, all.length - 1));
      expect(few.outcome).toBe(all.length === 0 ? "found" : "too_many");
    });
  }

  it.each(visibilities)("counts the objects of each value, in ranges of one or two fields: %j", async (visible) => {
    const { store } = subject();
    const visibleOnes = ordered.filter(({ owner }) => visible.owner === undefined || visible.owner === owner);
    const counted = (ofIndex: IndexField, isIn: (text: string) => boolean) => {
      const texts = visibleOnes.filter((object) => isIn(textOf(object) ?? ""));
      const found = Map.groupBy(texts, (object) => {
        const encoded = [encodeSortValue(textOf(object)), encodeSortValue(String(otherOf(object)))];
        return encoded.slice(0, ofIndex === value ? 1 : 2).join("\0");
      });
      return [...found].map(([name, { length: count }]) => ({ value: name, count }));
    };
    for (const [, ranges, isIn] of cases) {
      const values = counted(value, isIn);
      const query = { index: "value", ranges };
      expect(await store.countValues(collection, visible, query, values.length)).toEqual({
        outcome: "counted",
        values,
      });
      const few = values.length === 0 ? { outcome: "counted", values } : { outcome: "too_many" };
      expect(await store.countValues(collection, visible, query, Math.max(0, values.length - 1))).toEqual(few);
    }
    const ofA = { index: "value,other", ranges: [equalTo(encodeSortValue('"a"'))] };
    const values = counted(both, (text) => text === '"a"').toSorted((x, y) => compareEncoded(x.value, y.value));
    expect(await store.countValues(collection, visible, ofA, 10)).toEqual({ outcome: "counted", values });
    expect(await store.countValues(collection, visible, { index: "none" }, 10)).toEqual({ outcome: "not_ready" });
  });

  it.each(visibilities)("names the candidates of several queries, each once, and counts each: %j", async (visible) => {
    const { store } = subject();
    const queries: readonly FieldQuery[] = [
      { index: "value", equals: encodeSortValue('"a"') },
      { index: "value,other" },
      { index: "value", ranges: [] },
    ];
    const visibleOnes = objects.filter(({ owner }) => visible.owner === undefined || visible.owner === owner);
    const twice = visibleOnes.filter((object) => textOf(object) === '"a"').length;
    const found = await store.candidates(collection, visible, queries, visibleOnes.length + twice);
    expect("ids" in found && found.ids.toSorted()).toEqual(idsOf(visibleOnes, false).toSorted());
    const few = await store.candidates(collection, visible, queries, visibleOnes.length + twice - 1);
    expect(few).toEqual({ outcome: "too_many" });
    const none = [...queries, { index: "none" }];
    expect(await store.candidates(collection, visible, none, 100)).toEqual({ outcome: "not_ready" });
  });

  it("walks in order of creation, both ways", async () => {
    for (const visible of visibilities) {
      const visibleOnes = objects.filter(({ owner }) => visible.owner === undefined || visible.owner === owner);
      for (const descending of [false, true]) {
        const walked = await walkAll(subject().store, collection, { visible, descending, limit: 5 });
        expect(walked).toEqual({ ids: idsOf(visibleOnes, descending), counts: new Set([visibleOnes.length]) });
      }
    }
  });

  it("walks through the second field where the first one has one value", async () => {
    const from = encodeSortValue('"a"');
    const query: FieldQuery = { index: "value,other", ranges: [equalTo(from)] };
    const walked = await walkAll(subject().store, collection, { visible: {}, query, descending: false, limit: 1 });
    const alike = objects.filter((object) => textOf(object) === '"a"');
    const byOther = alike.toSorted((x, y) => otherOf(x) - otherOf(y) || (x.id < y.id ? -1 : 1));
    expect(walked.ids).toEqual(idsOf(byOther, false));
  });

  it("goes on behind an object that is gone, and does not count when it is told not to", async () => {
    const { store } = subject();
    const own = freshCollection();
    await store.declareIndexes(own, [value], 1);
    for (const n of [1, 2, 3, 4]) await store.create(own, objectOf(n, { value: "1" }), plenty);
    const query = { index: "value" };
    const first = await store.pageAfter(own, {}, query, { limit: 2, descending: false, counted: false });
    expect(first).toMatchObject({ outcome: "page", count: 0, next: { value: encodeSortValue("1"), id: idOf(2) } });
    for (const n of [2, 3]) await store.remove(own, idOf(n), {});
    const after: Position = { value: encodeSortValue("1"), id: idOf(2) };
    const second = await store.pageAfter(own, {}, query, { limit: 2, descending: false, counted: true, after });
    expect(second).toMatchObject({ outcome: "page", count: 2 });
    expect("texts" in second && idsIn(second.texts)).toEqual([idOf(4)]);
    expect(second).not.toHaveProperty("next");
  });

  it("says that an index is not ready", async () => {
    const { store } = subject();
    const query = { index: "none", ranges: allValues };
    const range = { limit: 1, descending: false, counted: true };
    expect(await store.pageAfter(collection, {}, query, range)).toEqual({ outcome: "not_ready" });
    expect(await store.candidates(collection, {}, [query], 1)).toEqual({ outcome: "not_ready" });
    expect(await store.candidates(freshCollection(), {}, [query], 1)).toEqual({ outcome: "not_ready" });
  });

  it("has nothing to walk through in a collection that nobody wrote to", async () => {
    const range = { limit: 1, descending: false, counted: true };
    expect(await subject().store.pageAfter(freshCollection(), {}, undefined, range)).toMatchObject({
      outcome: "page",
      count: 0,
      texts: [],
    });
  });
}

function describeReading(subject: Subject): void {
  it("reads objects in the order of their ids as given, without those that are gone, in batches of at most 4 MiB", async () => {
    const { store } = subject();
    const collection = freshCollection();
    const pad = JSON.stringify("x".repeat(30_000));
    const objects = Array.from({ length: 400 }, (_, n) => objectOf(n, { pad }));
    await Promise.all(objects.map((object) => store.create(collection, object, plenty)));
    for (const n of [0, 7, 399]) await store.remove(collection, idOf(n), {});
    const asked = shuffled(objects.map(({ id }) => id));
    const seen: string[] = [];
    for await (const batch of store.readObjects(collection, [...asked, idOf(1_000)])) {
      expect(Buffer.byteLength(batch.join(""))).toBeLessThanOrEqual(4 * 1024 * 1024);
      seen.push(...idsIn(batch));
    }
    const gone = new Set([0, 7, 399].map(idOf));
    expect(seen).toEqual(asked.filter((id) => !gone.has(id)));
  });

  it("shows no object that the filter doesn't match, whatever is written meanwhile, from two replicas", async () => {
    const collection = freshCollection();
    const [store, writer] = await twoReplicas(subject());
    await store.declareIndexes(collection, [value], 1);
    for (const { a } of changing) await store.create(collection, a, plenty);
    const writes = changeUntilStopped(writer, collection);
    const shown = new Set<string>();
    for (let times = 0; times < 20; times += 1) {
      for (const text of await shownWhereA(store, collection)) shown.add(text);
    }
    await writes.stop();
    const allowed = changing.map(({ a }) => a.text);
    expect([...shown].filter((text) => !allowed.includes(text))).toEqual([]);
  });

  it("reads nothing of nothing", async () => {
    for (const ids of [[], [idOf(1)]]) {
      const batches: (readonly string[])[] = [];
      for await (const batch of subject().store.readObjects(freshCollection(), ids)) batches.push(batch);
      expect(batches).toEqual([]);
    }
  });

  it("cuts a page that is too long short, and says so", async () => {
    const { store } = subject();
    const collection = freshCollection();
    await store.declareIndexes(collection, [value], 1);
    const pad = JSON.stringify("é".repeat(300_000));
    for (let n = 0; n < 8; n += 1) await store.create(collection, objectOf(n, { value: String(n), pad }), plenty);
    const query = { index: "value", ranges: allValues };
    const range = { limit: 8, descending: false, counted: true };
    const whole = await store.pageAfter(collection, {}, query, range);
    expect("texts" in whole && idsIn(whole.texts)).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map(idOf));
    expect(await store.pageAfter(collection, {}, query, { ...range, maxBytes: 1_000_000 })).toMatchObject({
      isCut: true,
    });
    const page = { offset: 1, limit: 8, descending: true, maxBytes: 1_000_000 };
    expect(await store.pageByField(collection, {}, query, page)).toMatchObject({ count: 8, isCut: true });
  });
}

interface Walk {
  readonly visible: Visibility;
  readonly query?: FieldQuery;
  readonly descending: boolean;
  readonly limit: number;
}

async function walkAll(store: Store, collection: CollectionRef, { visible, query, descending, limit }: Walk) {
  const ids: string[] = [];
  const counts = new Set<number>();
  for (let after: Position | undefined; ; ) {
    const range = { limit, descending, counted: true, ...(after && { after }) };
    const page = await store.pageAfter(collection, visible, query, range);
    if (page.outcome === "not_ready") throw new Error("The index is not ready");
    const { texts, count, next }: KeysetPage = page;
    ids.push(...idsIn(texts));
    counts.add(count);
    if (next === undefined) return { ids, counts };
    expect(texts).toHaveLength(limit);
    after = next;
  }
}

function idsOf(objects: readonly NewObject[], descending: boolean): readonly string[] {
  const ids = objects.map(({ id }) => id);
  return descending ? ids.reverse() : ids;
}

function otherOf({ id }: NewObject): number {
  return Number.parseInt(id.slice(-12), 16) % 3;
}

function product<A, B>(some: readonly A[], others: readonly B[]): readonly (readonly [A, B])[] {
  return some.flatMap((one) => others.map((other) => [one, other] as const));
}

/** Objects that have one value, then another one, then the first again. */
const changing = Array.from({ length: 12 }, (_, n) => {
  const owner = n % 2 === 0 ? "user:bob" : "user:alice";
  return { a: objectOf(n, { value: '"a"' }, owner), b: objectOf(n, { value: '"b"' }, owner) };
});

function changeUntilStopped(store: Store, collection: CollectionRef): { stop(): Promise<unknown> } {
  let isOver = false;
  const writing = changing.map(async ({ a, b }) => {
    while (!isOver) {
      expect((await store.replace(collection, b, a)).outcome).toBe("replaced");
      expect((await store.replace(collection, a, b)).outcome).toBe("replaced");
    }
  });
  return {
    stop() {
      isOver = true;
      return Promise.all(writing);
    },
  };
}

/** What pages of the first value show, by both ways to ask for it, of all objects and in a walk. */
async function shownWhereA(store: Store, collection: CollectionRef): Promise<readonly string[]> {
  const encoded = encodeSortValue('"a"');
  const range = { offset: 0, limit: 100, descending: false };
  const queries: readonly FieldQuery[] = [
    { index: "value", equals: encoded },
    { index: "value", ranges: [equalTo(encoded)] },
  ];
  const pages = await Promise.all(
    queries.flatMap((query) => [
      store.pageByField(collection, {}, query, range),
      store.pageAfter(collection, {}, query, { ...range, counted: false }),
    ]),
  );
  return pages.flatMap((page) => ("texts" in page ? page.texts : []));
}
