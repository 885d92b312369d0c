// Pages: the entries of a list, then the texts that they point to, in steps between which others
// are served.

import type { Candidates, FieldQuery, IdRange, KeysetRange, ObjectLists, PageRange, Position } from "../ports/lists.ts";
import type { CollectionRef, Visibility } from "../ports/refs.ts";
import { type FoundPage, readOrderedPage, readPage } from "../read-page.ts";
import { createLists, type List } from "./lists.ts";
import type { ObjectDeps } from "./objects.ts";

type Pages = Omit<ObjectLists, "scan">;

interface FoundKeysetPage extends FoundPage {
  /** Where to continue, when there is more. */
  readonly next?: Position;
}

const nothing: FoundPage = { count: 0, ids: [], filter: { owner: undefined } };

export function createPages({ database, transactions, collections, texts, clock }: ObjectDeps): Pages {
  const lists = createLists(database, collections, clock);

  interface PageQuery {
    readonly ref: CollectionRef;
    readonly visible: Visibility;
    readonly query?: FieldQuery | undefined;
    readonly ids?: IdRange | undefined;
  }

  /** Undefined where no index is ready. */
  function inList<Found extends FoundPage>(
    { ref, visible, query, ids }: PageQuery,
    read: (list: List) => Omit<Found, "filter">,
  ): Promise<FoundPage | Found | undefined> {
    return transactions.read(() => {
      const list = lists.find(ref, visible, { query, ids });
      if (list === "not_ready") return undefined;
      if (list === "nothing") return nothing;
      const { index } = list;
      const by = query !== undefined && index !== undefined && { by: { query, index } };
      return { ...read(list), filter: { owner: visible.owner, ...by } } as Found;
    });
  }

  const pageOf = (range: PageRange) => (list: List) => texts.firstOf(lists.count(list), lists.entriesAt(list, range));
  const pageAfter =
    (range: KeysetRange) =>
    (list: List): Omit<FoundKeysetPage, "filter"> => {
      const entries = lists.entriesAfter(list, range);
      const shown = entries.slice(0, range.limit);
      const part = texts.firstOf(range.counted ? lists.count(list) : 0, shown);
      const last = entries.length > range.limit ? shown.at(-1) : undefined;
      return last === undefined ? part : { ...part, next: { value: last.value, id: last.id } };
    };

  const idsOf = ({ ref, visible, query, ids }: PageQuery, limit: number): readonly string[] | "not_ready" => {
    const list = lists.find(ref, visible, { query, ids });
    if (list === "not_ready") return list;
    return list === "nothing" ? [] : lists.entriesAfter(list, { limit, descending: false }).map(({ id }) => id);
  };

  const candidatesOf = (queries: readonly PageQuery[], max: number): Promise<Candidates> =>
    transactions.read(() => {
      const found: string[] = [];
      for (const query of queries) {
        const ids = idsOf(query, max - found.length);
        if (ids === "not_ready") return { outcome: "not_ready" };
        found.push(...ids);
        if (found.length > max) return { outcome: "too_many" };
      }
      return { outcome: "found", ids: [...new Set(found)] };
    });

  return {
    async pageByCreation(ref, visible, range) {
      const found = (await inList({ ref, visible, ids: range.ids }, pageOf(range))) ?? nothing;
      return { outcome: "page", ...(await readPage(found, (ids) => texts.readMore(ref, ids), range)) };
    },
    async pageByField(ref, visible, query, range) {
      const find = () => inList({ ref, visible, query }, pageOf(range));
      const read = await readOrderedPage(find, (ids) => texts.readMore(ref, ids), range);
      return read === undefined ? { outcome: "not_ready" } : { outcome: "page", ...read.page };
    },
    async pageAfter(ref, visible, query, range) {
      const pageQuery = { ref, visible, query, ids: range.ids };
      const find = () => inList<FoundKeysetPage>(pageQuery, pageAfter(range));
      const read = await readOrderedPage<FoundKeysetPage>(find, (ids) => texts.readMore(ref, ids), range);
      if (read === undefined) return { outcome: "not_ready" };
      const { next } = read.found;
      return { outcome: "page", ...read.page, ...(next && { next }) };
    },
    candidates(ref, visible, queries, max) {
      const each = queries.map((query) => ({ ref, visible, query }));
      return candidatesOf(each, max);
    },
    countValues: (ref, visible, query, max) =>
      transactions.read(() => {
        const list = lists.find(ref, visible, { query });
        if (list === "not_ready") return { outcome: "not_ready" };
        const values = list === "nothing" ? [] : lists.countValues(list, max);
        return values.length > max ? { outcome: "too_many" } : { outcome: "counted", values };
      }),
    candidatesByCreation: (ref, visible, ids, max) => candidatesOf([{ ref, visible, ids }], max),
    async *readObjects(ref, ids) {
      for (let from = 0; from < ids.length; ) {
        const read = await texts.readMore(ref, ids.slice(from));
        const existing = read.filter((text) => text !== undefined);
        if (existing.length > 0) yield existing;
        from += read.length;
      }
    },
    count: (ref, visible) =>
      transactions.read(() => {
        const list = lists.find(ref, visible);
        return typeof list === "string" ? 0 : lists.count(list);
      }),
  };
}
