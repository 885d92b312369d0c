// Recomputes what every index must hold from the documents alone, through the port, and compares:
// whatever an adapter keeps next to the documents, a disagreement shows.

import assert from "node:assert/strict";
import type { FieldPath } from "../../../core/config/types.ts";
import { valueAt } from "../../../core/json/members.ts";
import { entryValue } from "../../../dataplane/store/entry-values.ts";
import { encodeSortValue } from "../../../dataplane/store/order.ts";
import type { Store } from "../../../dataplane/store/port.ts";
import type { StoreIndex } from "../../../dataplane/store/ports/indexes.ts";
import type { CollectionRef, Owner, Visibility } from "../../../dataplane/store/ports/refs.ts";
import { pageByCreation } from "../store/page-by-creation.ts";
import { idsIn } from "../store/stored-objects.ts";

/** Small enough for deep offsets, large enough for few calls. */
const pageSize = 200;

/**
 * Fails unless count, creation order and every ready index agree with the documents, for all and
 * for each of `owners`.
 */
export async function expectIndexesExact(
  store: Store,
  collection: CollectionRef,
  owners: readonly Owner[],
): Promise<void> {
  const ready = (await store.indexes(collection)).filter(({ state }) => state === "ready");
  const indexes = ready.filter(({ field }) => field.purpose === undefined);
  for (const { field } of ready) if (field.purpose !== undefined) await expectEntriesExact(store, collection, field);
  for (const visible of [{}, ...owners.map((owner) => ({ owner }))]) {
    const texts: string[] = [];
    for await (const batch of store.scan(collection, visible)) texts.push(...batch);
    assert.deepEqual(idsIn(texts), idsIn(texts).sort());
    assert.equal(await store.count(collection, visible), texts.length);
    assert.deepEqual(await readAll((offset) => pageByCreation(store, collection, visible, rangeAt(offset))), texts);
    for (const { field } of indexes) {
      const expected = sortedBy(texts, field.parts ?? [field]);
      const of = { visible, index: field.name };
      // Entries that lead to no object are left out of pages; the index's own figure tells of them.
      const { count } = await fieldPage(store, collection, of, rangeAt(0));
      assert.deepEqual([field.name, visible, count], [field.name, visible, texts.length]);
      // A page is put in order by what was read. Only where each is a page of its own, the index's
      // order shows.
      const found = await inIndexOrder(count, (offset) => fieldPage(store, collection, of, rangeAt(offset, 1)));
      assert.deepEqual([field.name, visible, idsIn(found)], [field.name, visible, idsIn(expected)]);
      assert.deepEqual(found, expected);
    }
  }
}

/** Of an index with a purpose, which may leave objects out. */
async function expectEntriesExact(store: Store, collection: CollectionRef, index: StoreIndex): Promise<void> {
  const texts: string[] = [];
  for await (const batch of store.scan(collection, {})) texts.push(...batch);
  const within = texts.filter((text) => entryValue(index, (path) => valueAt(text, path)) !== undefined);
  const query = { index: index.name, field: index, ranges: [{ from: "", to: "\u{10ffff}" }] };
  const found = await store.candidates(collection, {}, [query], texts.length);
  assert.deepEqual(found.outcome === "found" && found.ids.toSorted(), idsIn(within));
}

function sortedBy(texts: readonly string[], fields: readonly FieldPath[]): string[] {
  // The scan is in order of id and each sort is stable, so that ties stay in order of id.
  return fields.toReversed().reduce(
    (ordered, { path }) => {
      const keyed = ordered.map((text) => ({ text, key: Buffer.from(encodeSortValue(valueAt(text, path))) }));
      return keyed.sort((x, y) => Buffer.compare(x.key, y.key)).map(({ text }) => text);
    },
    [...texts],
  );
}

interface IndexOf {
  readonly visible: Visibility;
  readonly index: string;
}

type FoundPage = Extract<Awaited<ReturnType<Store["pageByField"]>>, { readonly outcome: "page" }>;

async function fieldPage(store: Store, collection: CollectionRef, of: IndexOf, range: Range): Promise<FoundPage> {
  const page = await store.pageByField(collection, of.visible, { index: of.index }, range);
  if (page.outcome === "not_ready") throw new Error(`The index ${of.index} is not ready`);
  return page;
}

async function readAll(get: (offset: number) => Promise<{ readonly texts: readonly string[] }>): Promise<string[]> {
  const texts: string[] = [];
  for (;;) {
    const page = await get(texts.length);
    texts.push(...page.texts);
    if (page.texts.length < pageSize) return texts;
  }
}

/** Asked for at once: what comes at the same time is not slower by its round trips. */
const readAtOnce = 50;

async function inIndexOrder(
  count: number,
  get: (offset: number) => Promise<{ readonly texts: readonly string[] }>,
): Promise<string[]> {
  const texts: string[] = [];
  for (let begin = 0; begin < count; begin += readAtOnce) {
    const offsets = Array.from({ length: Math.min(readAtOnce, count - begin) }, (_, at) => begin + at);
    for (const page of await Promise.all(offsets.map(get))) texts.push(...page.texts);
  }
  return texts;
}

interface Range {
  readonly offset: number;
  readonly limit: number;
  readonly descending: boolean;
}

function rangeAt(offset: number, limit = pageSize): Range {
  return { offset, limit, descending: false };
}
