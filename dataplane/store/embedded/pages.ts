// Pages: the entries of a list, then the texts that they point to, in parts between which others are served.

import { completePage, type PagePart } from "../complete-page.ts";
import type { Candidates, KeysetRange, ObjectLists, PageRange, Position } from "../ports/lists.ts";
import type { CollectionRef } from "../ports/refs.ts";
import { createLists, type List } from "./lists.ts";
import type { ObjectParts } from "./objects.ts";

type Pages = Omit<ObjectLists, "scan">;

interface KeysetPart extends PagePart {
  /** Where to go on, when there is more. */
  readonly next?: Position;
}

const nothing: PagePart = { count: 0, texts: [], rest: [] };

export function createPages({ database, transactions, collections, texts }: ObjectParts): Pages {
  const lists = createLists(database, collections);

  function page(list: List, range: PageRange): PagePart {
    return texts.firstOf(lists.count(list), lists.entriesAt(list, range));
  }

  function pageAfter(list: List, range: KeysetRange): KeysetPart {
    const entries = lists.entriesAfter(list, range);
    const shown = entries.slice(0, range.limit);
    const part = texts.firstOf(range.counted ? lists.count(list) : 0, shown);
    const last = entries.length > range.limit ? shown.at(-1) : undefined;
    return last === undefined ? part : { ...part, next: { value: last.value, id: last.id } };
  }

  function whole(ref: CollectionRef, part: PagePart, range: Pick<PageRange, "maxLength" | "beforeMore">) {
    return completePage(part, (ids) => texts.readMore(ref, ids), range);
  }

  return {
    async pageByCreation(ref, visible, range) {
      const part = await transactions.read(() => {
        const list = lists.find(ref, visible);
        return typeof list === "string" ? nothing : page(list, range);
      });
      return whole(ref, part, range);
    },
    async pageByField(ref, visible, query, range) {
      const part = await transactions.read(() => {
        const list = lists.find(ref, visible, query);
        return typeof list === "string" ? list : page(list, range);
      });
      if (part === "not_ready") return { outcome: "not_ready" };
      return { outcome: "page", ...(await whole(ref, part === "nothing" ? nothing : part, range)) };
    },
    async pageAfter(ref, visible, query, range) {
      const part = await transactions.read(() => {
        const list = lists.find(ref, visible, query);
        return typeof list === "string" ? list : pageAfter(list, range);
      });
      if (part === "not_ready") return { outcome: "not_ready" };
      const { next, ...first }: KeysetPart = part === "nothing" ? nothing : part;
      return { outcome: "page", ...(await whole(ref, first, range)), ...(next && { next }) };
    },
    candidates: (ref, visible, query, max) =>
      transactions.read((): Candidates => {
        const list = lists.find(ref, visible, query);
        if (list === "not_ready") return { outcome: "not_ready" };
        const entries = list === "nothing" ? [] : lists.entriesAfter(list, { limit: max, descending: false });
        if (entries.length > max) return { outcome: "too_many" };
        return { outcome: "found", ids: entries.map(({ id }) => id) };
      }),
    async *readObjects(ref, ids) {
      for (let from = 0; from < ids.length; ) {
        const part = await texts.readMore(ref, ids.slice(from));
        if (part.texts.length > 0) yield part.texts;
        from += part.done;
      }
    },
    count: (ref, visible) =>
      transactions.read(() => {
        const list = lists.find(ref, visible);
        return typeof list === "string" ? 0 : lists.count(list);
      }),
  };
}
