// Reads the objects of a page whose ids a store has found: in steps, while the page is not too
// long, and beyond half a mebibyte only when the caller allows it. Objects change between the
// steps: one that no longer matches the list's filter or owner is left out, and when one has moved
// in the list's order, the page is found and read again.

import type { IndexField } from "../../core/config/types.ts";
import { valueAt } from "../../core/json/members.ts";
import { compareEncoded, encodeIndexed, encodeSortValue } from "./order.ts";
import type { FieldQuery, Page, PageRange } from "./ports/lists.ts";
import { ownerIn } from "./ports/objects.ts";
import type { Owner } from "./ports/refs.ts";
import { allValues, rangesOf } from "./ranges.ts";

/** What a list asks of each object. */
export interface PageFilter {
  readonly owner: Owner | undefined;
  /** With the index that the ids come from; absent in order of creation. */
  readonly by?: { readonly query: FieldQuery; readonly index: IndexField };
}

export interface FoundPage {
  readonly count: number;
  /** The page's first objects, where the step that found the ids has read them already. */
  readonly objects?: readonly PageObject[];
  /** The ids of its other objects. */
  readonly ids: readonly string[];
  readonly filter: PageFilter;
}

export interface PageObject {
  readonly id: string;
  readonly text: string;
}

/** The texts of the first ids, one at least; undefined where an object is gone. */
export type ReadTexts = (ids: readonly string[]) => Promise<readonly (string | undefined)[]>;

type Limits = Pick<PageRange, "maxBytes" | "beforeMore">;

export interface OrderedPage<Found> {
  readonly found: Found;
  readonly page: Page;
}

/** A page that changed this often while it was read is sorted by the values that were read last. */
const maxAttempts = 3;

/** Bytes that a page may have read before the caller is asked whether it may read on. */
export const shortPageBytes = 512 * 1024;

/** `find` answers with undefined where no index is ready. */
export async function readOrderedPage<Found extends FoundPage>(
  find: () => Promise<Found | undefined>,
  readTexts: ReadTexts,
  range: Limits & Pick<PageRange, "descending">,
): Promise<OrderedPage<Found> | undefined> {
  const { beforeMore } = range;
  const limits = { ...range, ...(beforeMore && { beforeMore: once(beforeMore) }) };
  for (let attempt = 1; ; attempt += 1) {
    const found = await find();
    if (found === undefined) return undefined;
    const { objects, isCut } = await readObjects(found, readTexts, limits);
    const { by } = found.filter;
    const isSnapshot = found.ids.length === 0;
    const isOrdered = isSnapshot || by === undefined || isSorted(objects, by.index, range);
    if (!isOrdered && attempt < maxAttempts) continue;
    return { found, page: pageOf(found, isOrdered ? objects : sorted(objects, by.index, range), isCut) };
  }
}

/** For lists in order of creation, which never changes. */
export async function readPage(found: FoundPage, readTexts: ReadTexts, limits: Limits): Promise<Page> {
  const { objects, isCut } = await readObjects(found, readTexts, limits);
  return pageOf(found, objects, isCut);
}

/** A page that is read again must not wait for the same permit twice. */
function once(wait: () => Promise<void>): () => Promise<void> {
  let waited: Promise<void> | undefined;
  return () => (waited ??= wait());
}

async function readObjects(
  { objects = [], ids, filter }: FoundPage,
  readTexts: ReadTexts,
  { maxBytes = Number.POSITIVE_INFINITY, beforeMore }: Limits,
): Promise<{ readonly objects: readonly PageObject[]; readonly isCut: boolean }> {
  const read: PageObject[] = [...objects];
  const select = selectorOf(filter);
  let bytes = 0;
  for (const { text } of objects) bytes += Buffer.byteLength(text);
  let rest = ids;
  let mayReadOn = false;
  while (rest.length > 0 && bytes <= maxBytes) {
    if (!mayReadOn && bytes > shortPageBytes) {
      await beforeMore?.();
      mayReadOn = true;
    }
    const texts = await readTexts(rest);
    for (const [at, text] of texts.entries()) {
      const object = select(rest[at] as string, text);
      if (object === undefined) continue;
      read.push(object);
      bytes += Buffer.byteLength(object.text);
    }
    rest = rest.slice(texts.length);
  }
  return { objects: read, isCut: bytes > maxBytes };
}

function pageOf({ count }: FoundPage, objects: readonly PageObject[], isCut: boolean): Page {
  return { count, texts: objects.map(({ text }) => text), ...(isCut && { isCut }) };
}

/** Undefined of an object that is gone, or that the filter leaves out. */
function selectorOf({ owner, by }: PageFilter): (id: string, text: string | undefined) => PageObject | undefined {
  const ranges = by && rangesOf(by.query);
  const isMatch = (text: string): boolean => {
    if (by === undefined || ranges === undefined || ranges === allValues) return true;
    const value = indexedValue(by.index, text);
    return ranges.some(({ from, to }) => compareEncoded(value, from) >= 0 && compareEncoded(value, to) < 0);
  };
  return (id, text) => {
    if (text === undefined || !(owner === undefined || ownerIn(text) === owner)) return undefined;
    return isMatch(text) ? { id, text } : undefined;
  };
}

type Direction = Pick<PageRange, "descending">;

/** Whether the objects are in the index's order by what they have now. */
function isSorted(objects: readonly PageObject[], index: IndexField, { descending }: Direction): boolean {
  let last: { readonly value: number | string; readonly id: string } | undefined;
  for (const { id, text } of objects) {
    const next = { id, value: comparable(index, text) };
    const order = last === undefined ? 0 : compareValues(last.value, next.value) || compareEncoded(last.id, id);
    if (descending ? order < 0 : order > 0) return false;
    last = next;
  }
  return true;
}

/**
 * Integers of up to 15 digits as numbers, which sort as their encodings do, and anything else
 * encoded: encoding every value took longer than reading it.
 */
function comparable(index: IndexField, text: string): number | string {
  const value = index.parts === undefined ? valueAt(text, index.path) : undefined;
  if (value !== undefined && /^-?\d{1,15}$/.test(value)) return Number(value);
  return indexedValue(index, text);
}

function compareValues(one: number | string, other: number | string): number {
  if (typeof one === "number" && typeof other === "number") return one - other;
  return compareEncoded(encodedOf(one), encodedOf(other));
}

function encodedOf(value: number | string): string {
  return typeof value === "number" ? encodeSortValue(String(value)) : value;
}

function sorted(objects: readonly PageObject[], index: IndexField, { descending }: Direction): readonly PageObject[] {
  const direction = descending ? -1 : 1;
  const keyed = objects.map((object) => ({ object, value: indexedValue(index, object.text) }));
  keyed.sort(
    (one, other) =>
      direction * (compareEncoded(one.value, other.value) || compareEncoded(one.object.id, other.object.id)),
  );
  return keyed.map(({ object }) => object);
}

function indexedValue(index: IndexField, text: string): string {
  return encodeIndexed(index, (path) => valueAt(text, path));
}
