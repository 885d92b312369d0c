// The promises about objects that expire: from their time on no call finds one, whether or not it
// was removed yet, and a removal leaves nothing behind but one entry in the log of changes.

import { describe, expect, it } from "vitest";
import type { ExpiryConfig, UniqueRule } from "../../../core/config/types.ts";
import { uniqueIndex } from "../../../dataplane/store/entry-values.ts";
import { expiryIndex } from "../../../dataplane/store/expiry.ts";
import { encodeSortValue } from "../../../dataplane/store/order.ts";
import type { Store } from "../../../dataplane/store/port.ts";
import type { TakenCollection } from "../../../dataplane/store/ports/expiry.ts";
import type { FieldQuery, Position } from "../../../dataplane/store/ports/lists.ts";
import type { NewObject } from "../../../dataplane/store/ports/objects.ts";
import type { CollectionRef, Visibility } from "../../../dataplane/store/ports/refs.ts";
import { expectIndexesExact } from "../../support/redis/check-integrity.ts";
import { buildAll } from "../../support/store/build-all.ts";
import { idOf, idsIn, objectOf } from "../../support/store/stored-objects.ts";
import { freshCollection, type MakeStore, pass, type StoreUnderTest, twoReplicas, useStore } from "./fixture.ts";

type Subject = () => StoreUnderTest;

const plenty = 1_000_000;
const owner = "user:alice";
const expiry: ExpiryConfig = { field: { name: "until", path: ["until"] } };
const group = { name: "group", path: ["group"] };
const indexes = [group, expiryIndex(expiry)];
/** Long enough to write what is then gone. */
const soonMs = 1_000;

export function describeExpiry(name: string, make: MakeStore): void {
  describe(`${name}: objects that expire`, () => {
    const subject = useStore(make);
    describeAnswers(subject);
    describeRemoval(subject);
    describeWrites(subject);
    describeUniqueValues(subject);
    describeDeclarations(subject);
    describeTaking(subject);
  });
}

function timeIn(subject: StoreUnderTest, milliseconds: number): string {
  return JSON.stringify(new Date(subject.clock.now() + milliseconds).toISOString());
}

function expiring(subject: StoreUnderTest, n: number, milliseconds = soonMs): NewObject {
  return objectOf(n, { group: "1", until: timeIn(subject, milliseconds) });
}

async function declared(store: Store, more: Partial<CollectionRef> = {}): Promise<CollectionRef> {
  const collection = { ...freshCollection(), expiry, ...more };
  await store.declareIndexes(collection, indexes, 1);
  return collection;
}

/** Objects 1 and 3 stay, 2 expires soon. */
async function filled(subject: StoreUnderTest, more?: Partial<CollectionRef>): Promise<CollectionRef> {
  const collection = await declared(subject.store, more);
  const objects = [objectOf(1, { group: "1" }), expiring(subject, 2), expiring(subject, 3, 3_600_000)];
  for (const object of objects) {
    expect((await subject.store.create(collection, object, plenty)).outcome).toBe("created");
  }
  return collection;
}

const range = { offset: 0, limit: 10, descending: false };
const kept = [idOf(1), idOf(3)];

async function idsOf(batches: AsyncIterable<readonly string[]>): Promise<readonly string[]> {
  const texts: string[] = [];
  for await (const batch of batches) texts.push(...batch);
  return idsIn(texts);
}

type Ask = (store: Store, collection: CollectionRef) => Promise<unknown>;

const pageOf = (found: Awaited<ReturnType<Store["pageByCreation"]>>) =>
  found.outcome === "page" ? { count: found.count, ids: idsIn(found.texts) } : found;

function describeAnswers(subject: Subject): void {
  const page = { count: 2, ids: kept };
  const asks: readonly (readonly [string, Ask, expected: unknown])[] = [
    ["a read", (store, of) => store.read(of, idOf(2), {}), undefined],
    ["an owner's read", (store, of) => store.read(of, idOf(2), { owner }), undefined],
    ["a page by creation", async (store, of) => pageOf(await store.pageByCreation(of, {}, range)), page],
    ["an owner's page", async (store, of) => pageOf(await store.pageByCreation(of, { owner }, range)), page],
    [
      "a page by a field",
      async (store, of) => pageOf(await store.pageByField(of, {}, { index: "group" }, range)),
      page,
    ],
    [
      "a page after a position",
      async (store, of) => pageOf(await store.pageAfter(of, {}, { index: "group" }, { ...range, counted: true })),
      page,
    ],
    ["candidates", (store, of) => store.candidates(of, {}, [{ index: "group" }], 10), { outcome: "found", ids: kept }],
    [
      "candidates by creation",
      (store, of) => store.candidatesByCreation(of, {}, { from: "0", to: "g" }, 10),
      { outcome: "found", ids: kept },
    ],
    [
      "counts of values",
      (store, of) => store.countValues(of, {}, { index: "group" }, 10),
      { outcome: "counted", values: [{ value: encodeSortValue("1"), count: 2 }] },
    ],
    ["objects by id", (store, of) => idsOf(store.readObjects(of, [1, 2, 3].map(idOf))), kept],
    ["a scan", (store, of) => idsOf(store.scan(of, {})), kept],
    ["an owner's scan", (store, of) => idsOf(store.scan(of, { owner })), kept],
    ["a count", (store, of) => store.count(of, {}), 2],
    ["a removal", (store, of) => store.remove(of, idOf(2), {}), false],
  ];

  it("are in no answer from their time on, and in all until then", async () => {
    const { store } = subject();
    const collections = await Promise.all(asks.map(() => filled(subject())));
    for (const [at, [what, ask, expected]] of asks.entries()) {
      if (what !== "a removal")
        expect([what, await ask(store, collections[at] as CollectionRef)]).not.toEqual([what, expected]);
    }
    await pass(subject(), soonMs);
    for (const [at, [what, ask, expected]] of asks.entries()) {
      expect([what, await ask(store, collections[at] as CollectionRef)]).toEqual([what, expected]);
    }
  });

  it("are left out of every page before they are removed, wherever they stand in it", async () => {
    const { store } = subject();
    const collection = await declared(store);
    // More than a page reads at first, in front of the others and among them.
    const live = [300, 302, 304, 306, 308, 310];
    const ended = [...Array.from({ length: 300 }, (_, n) => n), 303, 305, 309];
    const objects = [
      ...live.map((n) => objectOf(n, { group: `${n % 4}` })),
      ...ended.map((n) => expiring(subject(), n)),
    ];
    await Promise.all(objects.map((object) => store.create(collection, object, plenty)));
    await pass(subject(), soonMs);
    const grouped = [300, 304, 308, 302, 306, 310];
    const query = { index: "group" };
    const lists = [{}, { owner }].flatMap((visible) =>
      [false, true].flatMap((descending) => [
        { visible, descending, by: undefined, ns: live },
        { visible, descending, by: query, ns: grouped },
      ]),
    );
    for (const { visible, descending, by, ns } of lists) {
      const ids = (descending ? ns.toReversed() : ns).map(idOf);
      for (const offset of [0, 2, 5, 6]) {
        const part = { offset, limit: 2, descending };
        const page = by
          ? store.pageByField(collection, visible, by, part)
          : store.pageByCreation(collection, visible, part);
        expect(pageOf(await page)).toEqual({ count: 6, ids: ids.slice(offset, offset + 2) });
      }
      expect(await followed(store, collection, { visible, by, descending })).toEqual({ count: 6, ids });
    }
    const equals = { ...query, equals: encodeSortValue("2") };
    expect(pageOf(await store.pageByField(collection, {}, equals, { offset: 1, limit: 1, descending: true }))).toEqual({
      count: 3,
      ids: [idOf(306)],
    });
    expect(await store.candidates(collection, {}, [query], 6)).toEqual({ outcome: "found", ids: grouped.map(idOf) });
    expect(await store.candidates(collection, {}, [query], 5)).toEqual({ outcome: "too_many" });
    expect(await store.countValues(collection, { owner }, query, 2)).toEqual({
      outcome: "counted",
      values: ["0", "2"].map((value) => ({ value: encodeSortValue(value), count: 3 })),
    });
    expect(await store.countValues(collection, {}, query, 1)).toEqual({ outcome: "too_many" });
    expect([await store.count(collection, {}), await store.count(collection, { owner })]).toEqual([6, 6]);
    expect((await store.collectionSize(collection)).objects).toBe(objects.length);
  });

  it("expire a time after their creation", async () => {
    const { store } = subject();
    const collection = await declared(store, { expiry: { afterSeconds: 1 } });
    const created = Math.floor(subject().clock.now() / 1_000);
    const text = `{"id":"${idOf(1)}","_metadata":{"created":${created},"creator":"alice","creator_type":"user"}}`;
    expect((await store.create(collection, { id: idOf(1), owner, text }, plenty)).outcome).toBe("created");
    await pass(subject(), 1_000);
    expect(await store.read(collection, idOf(1), {})).toBeUndefined();
  });
}

interface Followed {
  readonly visible: Visibility;
  readonly by: FieldQuery | undefined;
  readonly descending: boolean;
}

/** What a client is shown that goes from page to page. */
async function followed(store: Store, collection: CollectionRef, { visible, by, descending }: Followed) {
  const ids: string[] = [];
  let after: Position | undefined;
  for (;;) {
    const part = { limit: 2, descending, counted: true, ...(after && { after }) };
    const page = await store.pageAfter(collection, visible, by, part);
    if (page.outcome !== "page") return page;
    ids.push(...idsIn(page.texts));
    if (page.next === undefined) return { count: page.count, ids };
    after = page.next;
  }
}

function describeRemoval(subject: Subject): void {
  it("leave no entry and no byte when they are removed, and one change each", async () => {
    const [store, other] = await twoReplicas(subject());
    const collection = await filled(subject(), { changes: { retentionSeconds: 3_600, maxEntries: 10_000 } });
    while ((await store.countBytes(collection)) === "more");
    const begun = await store.newestChange(collection);
    const many = Array.from({ length: 600 }, (_, at) => expiring(subject(), at + 10, 3 * soonMs));
    await Promise.all(many.map((object) => store.create(collection, object, plenty)));
    await pass(subject(), 3 * soonMs);
    // Both at once, and lists.
    const steps = [store, other, store, other].map((each) => each.removeExpired(collection));
    const page = pageOf(await other.pageByCreation(collection, {}, range));
    await Promise.all(steps);
    expect(page).toEqual({ count: 2, ids: kept });
    while ((await store.removeExpired(collection)).removed > 0);
    await expectIndexesExact(store, collection, [owner]);
    const texts = await Promise.all(kept.map((id) => store.read(collection, id, {})));
    const bytes = texts.reduce((sum, found) => sum + Buffer.byteLength(found?.text ?? ""), 0);
    expect(await store.collectionSize({ ...collection, resource: collection.resource })).toMatchObject({ objects: 2 });
    expect((await store.collectionSize(collection)).bytes).toBeGreaterThanOrEqual(bytes);
    const read = await store.changesAfter(collection, begun, 10_000);
    const removed = read.outcome === "changes" ? read.changes.filter(({ kind }) => kind === "delete") : [];
    expect(removed.map(({ id }) => id).sort()).toEqual([idOf(2), ...many.map(({ id }) => id)]);
    expect(new Set(removed.map((change) => change.owner))).toEqual(new Set([owner]));
  });

  it("say when the next one expires, and that none has", async () => {
    const { store } = subject();
    const collection = await filled(subject());
    const found = await store.nextExpiry({ project: collection.project, resource: collection.resource });
    const next = found?.next ?? 0;
    expect(next - (found?.now ?? 0)).toBeGreaterThan(0);
    expect(await store.removeExpired(collection)).toMatchObject({ next, removed: 0 });
    await pass(subject(), soonMs);
    expect(await store.removeExpired(collection)).toMatchObject({ next, removed: 1 });
    expect((await store.nextExpiry(collection))?.next).toBeGreaterThan(next);
    expect(await store.nextExpiry(freshCollection())).toBeUndefined();
  });
}

function describeWrites(subject: Subject): void {
  it("are refused where their time has come already", async () => {
    const { store } = subject();
    const collection = await filled(subject());
    expect(await store.create(collection, expiring(subject(), 4, 0), plenty)).toEqual({ outcome: "expired" });
    const stored = { text: objectOf(1, { group: "1" }).text };
    expect(await store.replace(collection, expiring(subject(), 1, -1), stored)).toEqual({ outcome: "expired" });
    expect(await store.read(collection, idOf(1), {})).toEqual(stored);
    expect(await store.count(collection, {})).toBe(3);
  });

  it("live on where an update moves the time, or removes it", async () => {
    const { store } = subject();
    const collection = await declared(store);
    const [moved, freed] = [expiring(subject(), 1), expiring(subject(), 2)];
    for (const object of [moved, freed]) await store.create(collection, object, plenty);
    await store.replace(collection, expiring(subject(), 1, 3_600_000), moved);
    await store.replace(collection, objectOf(2, { group: "1", until: "null" }), freed);
    await pass(subject(), soonMs);
    expect((await store.removeExpired(collection)).removed).toBe(0);
    expect(await store.count(collection, {})).toBe(2);
    await expectIndexesExact(store, collection, [owner]);
  });

  it("don't come back by a write that had read them before", async () => {
    const { store } = subject();
    const collection = await declared(store);
    const object = expiring(subject(), 1);
    await store.create(collection, object, plenty);
    await pass(subject(), soonMs);
    expect(await store.replace(collection, objectOf(1, { group: "2" }), object)).toEqual({ outcome: "not_found" });
    // Its own time is no fault of who sends it.
    expect(await store.replace(collection, expiring(subject(), 1, 0), object)).toEqual({ outcome: "not_found" });
    expect(await store.removeUnchanged(collection, object.id, object)).toBe("not_found");
    expect(await store.count(collection, {})).toBe(0);
  });

  it("leave their place in a full collection to others", async () => {
    const { store } = subject();
    const collection = await declared(store);
    await store.create(collection, expiring(subject(), 1), 1);
    expect(await store.create(collection, objectOf(2, {}), 1)).toEqual({ outcome: "quota_exceeded" });
    await pass(subject(), soonMs);
    expect((await store.create(collection, objectOf(2, {}), 1)).outcome).toBe("created");
  });
}

function describeUniqueValues(subject: Subject): void {
  it("leave their unique values to others, new ones and changed ones", async () => {
    const { store } = subject();
    const collection = { ...freshCollection(), expiry };
    const rule: UniqueRule = { fields: [group] };
    await store.declareIndexes(collection, [expiryIndex(expiry), uniqueIndex(rule)], 1);
    const [one, other] = ["1", "2"].map((value, at) =>
      objectOf(at, { group: value, until: timeIn(subject(), soonMs) }),
    ) as [NewObject, NewObject];
    const changed = objectOf(3, { group: "3" });
    for (const object of [one, other, changed]) await store.create(collection, object, plenty);
    const wanted = objectOf(4, { group: "1" });
    expect(await store.create(collection, wanted, plenty)).toEqual({ outcome: "not_unique", rule });
    await pass(subject(), soonMs);
    expect((await store.create(collection, wanted, plenty)).outcome).toBe("created");
    // The other one that has expired is still stored: it was in nobody's way.
    expect((await store.collectionSize(collection)).objects).toBe(3);
    expect((await store.replace(collection, objectOf(3, { group: "2" }), changed)).outcome).toBe("replaced");
  });
}

function describeDeclarations(subject: Subject): void {
  it("are hidden as soon as their expiry is declared, and counted until its index is built", async () => {
    const { store } = subject();
    const collection = freshCollection();
    await store.declareIndexes(collection, [group], 1);
    await store.create(collection, objectOf(1, { group: "1" }), plenty);
    await store.create(collection, expiring(subject(), 2, -1), plenty);
    const newer = { ...collection, expiry };
    await store.declareIndexes(newer, indexes, 2);
    expect(await store.read(newer, idOf(2), {})).toBeUndefined();
    expect(pageOf(await store.pageByCreation(newer, {}, range))).toEqual({ count: 2, ids: [idOf(1)] });
    await buildAll(store, newer);
    expect(pageOf(await store.pageByCreation(newer, {}, range))).toEqual({ count: 1, ids: [idOf(1)] });
  });

  it("are not removed by the index of another declaration", async () => {
    const { store } = subject();
    const collection = await filled(subject());
    const newer = { ...collection, expiry: { field: { name: "later", path: ["later"] } } };
    await pass(subject(), soonMs);
    expect(pageOf(await store.pageByCreation(newer, {}, range))).toEqual({ outcome: "not_ready" });
    expect(await store.removeExpired(newer)).toMatchObject({ removed: 0 });
    expect(await idsOf(store.scan(newer, {}))).toEqual([1, 2, 3].map(idOf));
  });

  it("expire by another field, or no longer, once that is declared", async () => {
    const { store } = subject();
    const collection = await filled(subject());
    const later: ExpiryConfig = { field: { name: "later", path: ["later"] } };
    const newer = { ...collection, expiry: later };
    await store.declareIndexes(newer, [group, expiryIndex(later)], 2);
    await buildAll(store, newer);
    await store.declareIndexes(collection, [group], 3);
    await pass(subject(), soonMs);
    const { expiry: _, ...without } = collection;
    expect(await store.count(newer, {})).toBe(3);
    expect(await store.count(without, {})).toBe(3);
    expect(await store.nextExpiry(without)).toBeUndefined();
  });
}

function describeTaking(subject: Subject): void {
  it("have their collection taken once noted, by one at a time, when its time comes, and not when it is let go", async () => {
    const [store, other] = await twoReplicas(subject());
    const collection = await filled(subject());
    const { project, resource } = collection;
    await store.noteExpiring(collection, 0);
    const takenBy = async (each: Store, takenMs = 300) =>
      (await each.takeExpiring(1_000, takenMs)).filter(
        ({ collection: its }) => its.project.namespace === project.namespace,
      );
    const first = await Promise.all([store, other, store].map((each) => takenBy(each)));
    const named = [{ collection: { project, resource }, until: expect.any(Number) }];
    expect(first.flat()).toEqual(named);
    await pass(subject(), 300);
    const taken = await takenBy(other, 3_600_000);
    expect(taken).toEqual(named);
    expect(await store.takeAgain(first.flat()[0] as TakenCollection, 0)).toBeUndefined();
    // Whoever fears that the note was lost doesn't end this.
    await store.noteExpiring(collection);
    expect(await takenBy(store)).toEqual([]);
    const again = await other.takeAgain(taken[0] as TakenCollection, 100);
    expect(await takenBy(store)).toEqual([]);
    await pass(subject(), 100);
    expect(await takenBy(store, 3_600_000)).toEqual(named);
    expect(await other.takeAgain(again as TakenCollection, undefined)).toBeUndefined();
    // An object that expires soon has it taken in time.
    await store.create(collection, expiring(subject(), 4, 200), plenty);
    expect(await takenBy(store)).toEqual([]);
    await pass(subject(), 200);
    const last = await takenBy(other);
    expect(last).toEqual(named);
    await store.takeAgain(last[0] as TakenCollection, undefined);
    await pass(subject(), 300);
    expect(await takenBy(store)).toEqual([]);
  });
}
