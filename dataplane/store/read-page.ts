// Reads the objects of a page whose ids a store has found: in steps, as long as the page is not too long, and beyond half a mebibyte only once
// the caller lets it. Objects change between the steps: one that no longer matches the list's filter or owner is left out, and where one has
// taken another place in the list's order, the page is found and read again.

import type { IndexField } from "../../core/config/types.ts";
import { valueAt } from "../../core/json/members.ts";
import { compareEncoded, encodeIndexed } from "./order.ts";
import type { FieldQuery, Page, PageRange } from "./ports/lists.ts";
import type { Owner } from "./ports/refs.ts";
import { rangesOf } from "./ranges.ts";

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

/** A page that changed this often while it was read is put in order by the values that were read last. */
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
    const isSnapshot = found.ids.length === 0;
    const ordered = isSnapshot ? objects : sorted(objects, found.filter, range);
    const isOrdered = ordered.every((object, at) => object === objects[at]);
    if (isOrdered || attempt === maxAttempts) return { found, page: pageOf(found, ordered, isCut) };
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
): Promise<{ readonly objects: readonly IndexedObject[]; readonly isCut: boolean }> {
  const read: IndexedObject[] = [...objects];
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

interface IndexedObject extends PageObject {
  /** What the index has of it, "" in order of creation; absent where the step that found the ids has read it. */
  readonly value?: string;
}

/** Undefined of an object that is gone, or that the filter leaves out. */
function selectorOf({ owner, by }: PageFilter): (id: string, text: string | undefined) => IndexedObject | undefined {
  const ranges = by && rangesOf(by.query);
  const isMatch = (value: string): boolean =>
    ranges?.some(({ from, to }) => compareEncoded(value, from) >= 0 && compareEncoded(value, to) < 0) ?? true;
  return (id, text) => {
    if (text === undefined || !(owner === undefined || ownerIn(text) === owner)) return undefined;
    const value = by === undefined ? "" : indexedValue(by.index, text);
    return isMatch(value) ? { id, text, value } : undefined;
  };
}

function sorted(
  objects: readonly IndexedObject[],
  { by }: PageFilter,
  { descending }: Pick<PageRange, "descending">,
): readonly IndexedObject[] {
  if (by === undefined) return objects;
  const direction = descending ? -1 : 1;
  const keyed = objects.map((object) => ({ object, value: object.value ?? indexedValue(by.index, object.text) }));
  keyed.sort(
    (one, other) =>
      direction * (compareEncoded(one.value, other.value) || compareEncoded(one.object.id, other.object.id)),
  );
  return keyed.map(({ object }) => object);
}

function indexedValue(index: IndexField, text: string): string {
  return encodeIndexed(index, (path) => valueAt(text, path));
}

/** The owner of an object by its stored text, which ends in `_metadata`. */
function ownerIn(text: string): Owner | undefined {
  const begin = '"_metadata":';
  const at = text.lastIndexOf(begin);
  if (at < 0) return undefined;
  const { creator, creator_type } = JSON.parse(text.slice(at + begin.length, -1)) as Readonly<Record<string, unknown>>;
  return `${creator_type}:${creator}`;
}
