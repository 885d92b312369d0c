// Makes a page whole of which a store has read a part, or only the ids: what is left of it is read in further parts, as long as the page is
// not too long, and beyond half a mebibyte only once the caller lets it.

import type { Page, PageRange } from "./ports/lists.ts";

/** What one step of a store reads of a page. */
export interface PagePart {
  readonly count: number;
  readonly texts: readonly string[];
  /** Ids of the page that did not fit. */
  readonly rest: readonly string[];
}

export interface TextsPart {
  /** Without objects that are gone. */
  readonly texts: readonly string[];
  /** How many of the ids were done with; one at least. */
  readonly done: number;
}

/** Characters that a page may have read before the caller is asked whether it may read on. */
const shortLength = 512 * 1024;

export async function completePage(
  part: PagePart,
  readMore: (ids: readonly string[]) => Promise<TextsPart>,
  { maxLength = Number.POSITIVE_INFINITY, beforeMore }: Pick<PageRange, "maxLength" | "beforeMore">,
): Promise<Page> {
  const texts = [...part.texts];
  let length = lengthOf(texts);
  let { rest } = part;
  let mayReadOn = false;
  while (rest.length > 0 && length <= maxLength) {
    if (!mayReadOn && length > shortLength) {
      await beforeMore?.();
      mayReadOn = true;
    }
    const further = await readMore(rest);
    texts.push(...further.texts);
    length += lengthOf(further.texts);
    rest = rest.slice(further.done);
  }
  return { count: part.count, texts, ...(length > maxLength && { isCut: true }) };
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}
