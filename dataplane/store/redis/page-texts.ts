// The texts of a page whose ids a script has found. Small objects are read together with the other reads of the same turn, larger ones by
// a script that stops at a byte limit. An object that changed in between and no longer matches the list's filter or owner is left out.

import { completePage, type TextsPart } from "../complete-page.ts";
import { compareEncoded } from "../order.ts";
import type { FieldQuery, Page, PageRange } from "../ports/lists.ts";
import type { Owner } from "../ports/refs.ts";
import { rangesOf } from "../ranges.ts";
import { encodedValues, type StoredIndex } from "./index-set.ts";
import type { JoinedReads } from "./joined-reads.ts";
import type { CollectionKeys } from "./keys.ts";
import type { FoundIds, ObjectScripts } from "./object-scripts.ts";

/** Small objects that one step reads: half a mebibyte, or more if some grew since this replica saw them last. */
const maxTogether = 32;

export interface TextParts {
  readonly scripts: ObjectScripts;
  readonly joinedReads: JoinedReads;
}

/** What a list asks of each object. */
export interface Asked {
  readonly owner: Owner | undefined;
  /** With the index by which a script found the ids; absent in order of creation. */
  readonly by?: { readonly query: FieldQuery; readonly index: StoredIndex };
}

export function wholePage(
  parts: TextParts,
  keys: CollectionKeys,
  found: FoundIds & { readonly asked: Asked },
  range: Pick<PageRange, "maxLength" | "beforeMore">,
): Promise<Page> {
  const isShown = shownBy(found.asked);
  const readMore = async (ids: readonly string[]): Promise<TextsPart> => {
    const texts = await readTexts(parts, keys, ids);
    return { done: texts.length, texts: texts.filter((text) => text !== undefined).filter(isShown) };
  };
  return completePage({ count: found.count, texts: [], rest: found.ids }, readMore, range);
}

/** Texts of the first ids, one at least; undefined where an object is gone. */
async function readTexts(
  { scripts, joinedReads }: TextParts,
  keys: CollectionKeys,
  ids: readonly string[],
): Promise<readonly (string | undefined)[]> {
  const together = ids.slice(0, maxTogether).map(keys.objectKey);
  if (together.every(joinedReads.isSmall)) return Promise.all(together.map((key) => joinedReads.read(key)));
  const texts = await scripts.readMany(keys, ids);
  for (const [at, text] of texts.entries()) joinedReads.note(keys.objectKey(ids[at] as string), text);
  return texts;
}

function shownBy({ owner, by }: Asked): (text: string) => boolean {
  const isOwn = (text: string): boolean => owner === undefined || ownerIn(text) === owner;
  if (by === undefined || (by.query.equals === undefined && by.query.ranges === undefined)) return isOwn;
  const ranges = rangesOf(by.query);
  return (text) => {
    const [value = ""] = encodedValues([by.index], text);
    return (
      isOwn(text) && ranges.some(({ from, to }) => compareEncoded(value, from) >= 0 && compareEncoded(value, to) < 0)
    );
  };
}

/** The owner of an object by its stored text, which ends in `_metadata`. */
function ownerIn(text: string): Owner | undefined {
  const begin = '"_metadata":';
  const at = text.lastIndexOf(begin);
  if (at < 0) return undefined;
  const { creator, creator_type } = JSON.parse(text.slice(at + begin.length, -1)) as Readonly<Record<string, unknown>>;
  return `${creator_type}:${creator}`;
}
