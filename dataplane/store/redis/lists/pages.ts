// Pages, counts and scans of a collection: one script finds the ids of a sorted set's members by
// rank; then their objects are read, small ones together with the other reads of the turn.

import { WriteConflict } from "../../../../core/errors/store-errors.ts";
import type { RedisClient } from "../../../../core/redis/redis-client.ts";
import { numberOf } from "../../../../core/redis/reply.ts";
import { hasSameEntries } from "../../order.ts";
import type { FieldQuery, FoundPage, IdRange, ObjectLists, PageRange } from "../../ports/lists.ts";
import type { CollectionRef, Owner, Visibility } from "../../ports/refs.ts";
import { type ReadTexts, readOrderedPage, readPage } from "../../read-page.ts";
import type { IndexSetCache } from "../indexes/index-scripts.ts";
import { hasAllOwners, type IndexSet, type StoredIndex } from "../indexes/index-set.ts";
import { type CollectionKeys, collectionKeys, separator } from "../keys.ts";
import type { BatchedReads } from "../objects/batched-reads.ts";
import type { ObjectScripts, ScanReply } from "../objects/object-scripts.ts";
import { neverStale } from "../store-script.ts";
import type { ListReads } from "./live-reads.ts";
import { idLexRange, lexRanges, rangesAfter } from "./ranges.ts";

export interface PageDeps {
  readonly redisClient: RedisClient;
  readonly batchedReads: BatchedReads;
  readonly scripts: ObjectScripts;
  readonly listReads: (collection: CollectionRef) => ListReads;
  readonly indexSetCache: IndexSetCache;
}

/** Of a page that shows nothing. */
const nothing = { offset: 0, limit: 0, descending: false } as const;

export function createPages(deps: PageDeps): Pick<ObjectLists, "pageByCreation" | "pageByField" | "count" | "scan"> {
  const { redisClient, scripts, listReads, indexSetCache } = deps;
  const sizeOfAll = async ({ ids }: CollectionKeys) => numberOf(await redisClient.read(ids, "ZCARD", ids));
  return {
    async pageByCreation(collection, visible, range) {
      const keys = collectionKeys(collection);
      const reads = listReads(collection);
      const found = await withIds(indexSetCache, keys, visible, (ids) =>
        range.ids === undefined
          ? reads.page({ keys, ...ids, idIs: "first", ...range })
          : pageOfIds(reads, { keys, ...ids }, range.ids, range),
      );
      if (found === undefined) return { outcome: "not_ready" };
      const filter = { owner: visible.owner };
      return { outcome: "page", ...(await readPage({ ...found, filter }, pageTexts(deps, keys), range)) };
    },
    async pageByField(collection, { owner }, query, range) {
      const keys = collectionKeys(collection);
      const reads = listReads(collection);
      const find = async ({ version }: IndexSet, index: StoredIndex) => {
        const found =
          query.ranges === undefined
            ? await reads.page({
                keys,
                version,
                ...membersOf(keys, index, owner, query.equals),
                idIs: "last",
                ...range,
              })
            : await pageOfRanges(reads, { keys, version, index, owner }, query, range);
        return found === "stale" ? found : { ...found, filter: { owner, by: { query, index } } };
      };
      const read = await readOrderedPage(
        () => withIndex(indexSetCache, keys, { ...query, owner }, find),
        pageTexts(deps, keys),
        range,
      );
      if (read === undefined) return { outcome: "not_ready" };
      return { outcome: "page", ...read.page } satisfies FoundPage;
    },
    async count(collection, visible) {
      const keys = collectionKeys(collection);
      const { page } = listReads(collection);
      const count = (of: Visibility) =>
        withIds(indexSetCache, keys, of, (ids) => page({ keys, ...ids, idIs: "first", ...nothing }));
      if (visible.owner !== undefined) {
        // A page checks the version: leftover entries of owners would count too little.
        const own = await count(visible);
        if (own !== undefined) return own.count;
      }
      return collection.expiry === undefined ? await sizeOfAll(keys) : ((await count({}))?.count ?? 0);
    },
    async *scan(collection, visible, { max = Number.POSITIVE_INFINITY, after: first = "" } = {}) {
      const keys = collectionKeys(collection);
      let mayReadAll = visible.owner === undefined;
      const readAll = async (after: string): Promise<ScanReply> => {
        mayReadAll ||= (await sizeOfAll(keys)) <= max;
        if (!mayReadAll) throw new WriteConflict("Index entries by owner were dropped during the scan");
        return neverStale(await scripts.scan({ keys, set: keys.ids, ...visible, after }));
      };
      let after: string | undefined = first;
      while (after !== undefined) {
        const from = after;
        // Step by step: owners' entries may be left out, or all there, before the end is reached.
        const reply: ScanReply =
          (await withIds(indexSetCache, keys, visible, (ids) => scripts.scan({ keys, ...ids, after: from }))) ??
          (await readAll(from));
        if (reply.texts.length > 0) yield reply.texts;
        after = reply.after;
      }
    },
  };
}

/** A sorted set of ids, and the version of the index set by which one owner's may be read. */
export interface IdSet {
  readonly set: string;
  readonly version?: string;
}

/**
 * Calls `attempt` with the ids of those objects; undefined when the owner's entries are incomplete.
 */
export async function withIds<T>(
  indexSetCache: IndexSetCache,
  keys: CollectionKeys,
  { owner }: Visibility,
  attempt: (ids: IdSet) => Promise<T | "stale">,
): Promise<T | undefined> {
  if (owner === undefined) return neverStale(await attempt({ set: keys.ids }));
  const usable = (set: IndexSet) => (hasAllOwners(set) ? { set: keys.owned(owner), version: set.version } : undefined);
  return await withReady(indexSetCache, keys, usable, (_set, ids) => attempt(ids));
}

/** Calls `attempt` with an index that is ready; undefined when it isn't. */
export function withIndex<T>(
  indexSetCache: IndexSetCache,
  keys: CollectionKeys,
  { owner, ...query }: Pick<FieldQuery, "index" | "field"> & { readonly owner: Owner | undefined },
  attempt: (set: IndexSet, index: StoredIndex) => Promise<T | "stale">,
): Promise<T | undefined> {
  return withIndexes(indexSetCache, keys, { owner, queries: [query] }, (set, [index]) =>
    attempt(set, index as StoredIndex),
  );
}

interface IndexQueries {
  readonly owner: Owner | undefined;
  readonly queries: readonly Pick<FieldQuery, "index" | "field">[];
}

/** Calls `attempt` with the index of each query; undefined when one isn't ready. */
export function withIndexes<T>(
  indexSetCache: IndexSetCache,
  keys: CollectionKeys,
  { owner, queries }: IndexQueries,
  attempt: (set: IndexSet, indexes: readonly StoredIndex[]) => Promise<T | "stale">,
): Promise<T | undefined> {
  const usable = (set: IndexSet) => {
    if (owner !== undefined && !hasAllOwners(set)) return undefined;
    const found = queries.map((query) => readyIndex(set.indexes, query)).filter((index) => index !== undefined);
    return found.length === queries.length ? found : undefined;
  };
  return withReady(indexSetCache, keys, usable, attempt);
}

/** Calls `attempt` with what a set has that can be used; undefined when it has nothing. */
async function withReady<T, Usable>(
  indexSetCache: IndexSetCache,
  keys: CollectionKeys,
  usable: (set: IndexSet) => Usable | undefined,
  attempt: (set: IndexSet, found: Usable) => Promise<T | "stale">,
): Promise<T | undefined> {
  // What was not ready may be now: nothing tells this replica that another one has built it.
  const isKnown = usable(await indexSetCache.get(keys)) !== undefined;
  if (!isKnown) await indexSetCache.reload(keys);
  try {
    return await indexSetCache.retryWhileStale(keys, async (set) => {
      const found = usable(set);
      return found === undefined ? undefined : attempt(set, found);
    });
  } catch (error) {
    // An index that is declared again all the time is never ready for long enough.
    if (error instanceof WriteConflict) return undefined;
    throw error;
  }
}

interface IndexRead {
  readonly keys: CollectionKeys;
  readonly version: string;
  readonly index: StoredIndex;
  readonly owner: Owner | undefined;
}

function pageOfRanges(reads: ListReads, read: IndexRead, { ranges = [] }: FieldQuery, range: PageRange) {
  const { keys, version, index, owner } = read;
  const { offset, limit, descending } = range;
  const counted = lexRanges(ranges, owner);
  const shown = rangesAfter(ranges, { owner, descending, after: undefined });
  const set = setOf(keys, index, owner);
  return reads.ranges({ keys, set, version, idIs: "last", offset, limit, descending, counted, shown });
}

function pageOfIds(reads: ListReads, read: IdSet & { readonly keys: CollectionKeys }, ids: IdRange, range: PageRange) {
  const { offset, limit, descending } = range;
  const all = [idLexRange(ids)];
  return reads.ranges({ ...read, idIs: "first", offset, limit, descending, counted: all, shown: all });
}

/** An index's sorted set for those who see all, or one owner's. */
export function setOf(keys: CollectionKeys, index: StoredIndex, owner: Owner | undefined): string {
  return owner === undefined ? keys.index(index.slot) : keys.ownIndex(index.slot);
}

function readyIndex(
  indexes: readonly StoredIndex[],
  { index: name, field }: Pick<FieldQuery, "index" | "field">,
): StoredIndex | undefined {
  return indexes.find(
    (each) => each.name === name && each.state === "ready" && (field === undefined || hasSameEntries(each, field)),
  );
}

/** The sorted set to read and what the page's members begin with. */
function membersOf(keys: CollectionKeys, index: StoredIndex, owner: Owner | undefined, equals: string | undefined) {
  const parts = [owner, equals].filter((part) => part !== undefined);
  const set = setOf(keys, index, owner);
  return parts.length === 0 ? { set } : { set, begin: parts.map((part) => part + separator).join("") };
}

/** Small objects of one step: half a mebibyte, unless some grew since they were last seen. */
const maxTogether = 32;

export interface TextDeps {
  readonly scripts: ObjectScripts;
  readonly batchedReads: BatchedReads;
}

export function pageTexts({ scripts, batchedReads }: TextDeps, keys: CollectionKeys): ReadTexts {
  return async (ids) => {
    const together = batchedReads.readSmall(ids.slice(0, maxTogether).map(keys.objectKey));
    if (together !== undefined) return await together;
    const texts = await scripts.readMany(keys, ids);
    for (const [at, text] of texts.entries()) batchedReads.rememberSize(keys.objectKey(ids[at] as string), text);
    return texts;
  };
}
