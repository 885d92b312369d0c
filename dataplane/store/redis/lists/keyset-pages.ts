// Pages after a position and candidates of a scan: ranges of a sorted set's members by their bytes,
// then the objects they name.

import type { Candidates, FieldQuery, KeysetPage, KeysetRange, ObjectLists } from "../../ports/lists.ts";
import type { Owner } from "../../ports/refs.ts";
import { rangesOf } from "../../ranges.ts";
import { type PageFilter, readOrderedPage } from "../../read-page.ts";
import type { StoredIndex } from "../indexes/index-set.ts";
import { type CollectionKeys, collectionKeys, separator } from "../keys.ts";
import type { ListReads } from "./live-reads.ts";
import { type PageDeps, pageTexts, setOf, withIds, withIndex, withIndexes } from "./pages.ts";
import {
  type IdPosition,
  idIn,
  idLexRange,
  idsAfter,
  lexRanges,
  type PageStart,
  positionOf,
  type RangesReply,
  rangesAfter,
} from "./ranges.ts";

/** Objects that one call is asked for, at most. */
const objectsPerCall = 250;

type KeysetPages = Pick<
  ObjectLists,
  "pageAfter" | "candidates" | "countValues" | "candidatesByCreation" | "readObjects"
>;

export function createKeysetPages(deps: PageDeps): KeysetPages {
  const { scripts, listReads, indexSetCache } = deps;
  return {
    async pageAfter(collection, { owner }, query, range) {
      const keys = collectionKeys(collection);
      const step = { keys, owner, range, ranges: listReads(collection).ranges, indexSetCache };
      const find = () => (query === undefined ? byCreation(step) : byField(step, query));
      const read = await readOrderedPage(find, pageTexts(deps, keys), range);
      if (read === undefined) return { outcome: "not_ready" };
      const { last } = read.found;
      const page: KeysetPage = read.page;
      if (last === undefined) return { outcome: "page", ...page };
      const next = query === undefined ? { value: "", id: idIn(last, "first") } : positionOf(last, owner);
      return { outcome: "page", ...page, next };
    },
    async candidates(collection, { owner }, queries, max) {
      const keys = collectionKeys(collection);
      const found = await withIndexes(indexSetCache, keys, { owner, queries }, ({ version }, indexes) => {
        const sets = queries.map((query, at) => ({
          set: setOf(keys, indexes[at] as StoredIndex, owner),
          ranges: lexRanges(rangesOf(query), owner),
        }));
        return listReads(collection).members({ keys, sets, version, idIs: "last", max });
      });
      return candidatesOf(found, "last");
    },
    async countValues(collection, { owner }, query, max) {
      const keys = collectionKeys(collection);
      const ranges = lexRanges(rangesOf(query), owner);
      const found = await withIndex(indexSetCache, keys, { ...query, owner }, ({ version }, index) =>
        listReads(collection).values({ keys, set: setOf(keys, index, owner), version, idIs: "last", ranges, max }),
      );
      if (found === undefined) return { outcome: "not_ready" };
      if (found === "too_many") return { outcome: "too_many" };
      const begin = owner === undefined ? 0 : owner.length + separator.length;
      return { outcome: "counted", values: found.map(({ value, count }) => ({ value: value.slice(begin), count })) };
    },
    async candidatesByCreation(collection, visible, range, max) {
      const keys = collectionKeys(collection);
      const ranges = [idLexRange(range)];
      const found = await withIds(indexSetCache, keys, visible, ({ set, version }) =>
        listReads(collection).members({ keys, sets: [{ set, ranges }], version, idIs: "first", max }),
      );
      return candidatesOf(found, "first");
    },
    async *readObjects(collection, ids) {
      const keys = collectionKeys(collection);
      for (let at = 0; at < ids.length; ) {
        const found = await scripts.readMany(keys, ids.slice(at, at + objectsPerCall));
        const texts = found.filter((text) => text !== undefined);
        if (texts.length > 0) yield texts;
        at += found.length;
      }
    },
  };
}

function candidatesOf(found: readonly string[] | "too_many" | undefined, idIs: IdPosition): Candidates {
  if (found === undefined) return { outcome: "not_ready" };
  if (found === "too_many") return { outcome: "too_many" };
  return { outcome: "found", ids: [...new Set(found.map((member) => idIn(member, idIs)))] };
}

interface Step extends Pick<PageDeps, "indexSetCache">, Pick<ListReads, "ranges"> {
  readonly keys: CollectionKeys;
  readonly owner: Owner | undefined;
  readonly range: KeysetRange;
}

type Found = RangesReply & { readonly filter: PageFilter };

async function byCreation({ keys, owner, range, ranges, indexSetCache }: Step): Promise<Found | undefined> {
  const { limit, descending, counted } = range;
  const all = [idLexRange(range.ids)];
  const asked = { idIs: "first", offset: 0, limit, descending, counted: counted ? all : [] } as const;
  const shown = [idsAfter(startOf({ owner, range }), range.ids)];
  const visible = owner === undefined ? {} : { owner };
  const found = await withIds(indexSetCache, keys, visible, (ids) => ranges({ keys, ...ids, ...asked, shown }));
  return found && { ...found, filter: { owner } };
}

function byField(step: Step, query: FieldQuery): Promise<Found | undefined> {
  const { keys, owner, range, indexSetCache } = step;
  const { limit, descending, counted } = range;
  const ranges = rangesOf(query);
  return withIndex(indexSetCache, keys, { ...query, owner }, async ({ version }, index) => {
    const found = await step.ranges({
      keys,
      set: setOf(keys, index, owner),
      version,
      idIs: "last",
      offset: 0,
      limit,
      descending,
      counted: counted ? lexRanges(ranges, owner) : [],
      shown: rangesAfter(ranges, startOf({ owner, range })),
    });
    return found === "stale" ? found : { ...found, filter: { owner, by: { query, index } } };
  });
}

function startOf({ owner, range }: Pick<Step, "owner" | "range">): PageStart {
  return { owner, descending: range.descending, after: range.after };
}
