// Pages, counts and scans of a collection: one script finds the ids of a sorted set's members by rank, and page-texts.ts reads their
// objects.

import { WriteConflict } from "../../../core/errors/store-errors.ts";
import type { RedisClient } from "../../../core/redis/redis-client.ts";
import { numberOf } from "../../../core/redis/reply.ts";
import { hasSamePaths } from "../order.ts";
import type { FieldPage, FieldQuery, ObjectLists, PageRange } from "../ports/lists.ts";
import type { Owner, Visibility } from "../ports/refs.ts";
import { readOrderedPage, readPage } from "../read-page.ts";
import type { BatchedReads } from "./batched-reads.ts";
import type { IndexSet, StoredIndex } from "./index-set.ts";
import type { IndexSetCache } from "./index-set-cache.ts";
import { type CollectionKeys, collectionKeys, separator } from "./keys.ts";
import { rangesAfter, wholeRanges } from "./lex-ranges.ts";
import type { ObjectScripts } from "./object-scripts.ts";
import { pageTexts } from "./page-texts.ts";
import type { RangeScripts } from "./range-scripts.ts";
import { neverStale } from "./store-script.ts";

export interface PageDeps {
  readonly redisClient: RedisClient;
  readonly batchedReads: BatchedReads;
  readonly scripts: ObjectScripts;
  readonly rangeScripts: RangeScripts;
  readonly indexSetCache: IndexSetCache;
}

export function createPages(deps: PageDeps): Pick<ObjectLists, "pageByCreation" | "pageByField" | "count" | "scan"> {
  const { redisClient, scripts, indexSetCache } = deps;
  return {
    async pageByCreation(collection, visible, range) {
      const keys = collectionKeys(collection);
      const reply = await scripts.page({ keys, set: idsOf(keys, visible), idIs: "first", ...range });
      const found = { ...neverStale("read-page-2", reply), filter: { owner: visible.owner } };
      return await readPage(found, pageTexts(deps, keys), range);
    },
    async pageByField(collection, { owner }, query, range) {
      const keys = collectionKeys(collection);
      const find = async ({ version }: IndexSet, index: StoredIndex) => {
        const found =
          query.ranges === undefined
            ? await scripts.page({
                keys,
                version,
                ...membersOf(keys, index, owner, query.equals),
                idIs: "last",
                ...range,
              })
            : await pageOfRanges(deps, { keys, version, index, owner }, query, range);
        return found === "stale" ? found : { ...found, filter: { owner, by: { query, index } } };
      };
      const read = await readOrderedPage(
        () => withIndex(indexSetCache, keys, query, find),
        pageTexts(deps, keys),
        range,
      );
      if (read === undefined) return { outcome: "not_ready" };
      return { outcome: "page", ...read.page } satisfies FieldPage;
    },
    async count(collection, visible) {
      const set = idsOf(collectionKeys(collection), visible);
      return numberOf(await redisClient.read(set, "ZCARD", set));
    },
    async *scan(collection, visible) {
      const keys = collectionKeys(collection);
      const set = idsOf(keys, visible);
      let after: string | undefined = "";
      while (after !== undefined) {
        const reply = await scripts.scan({ keys, set, after });
        if (reply.texts.length > 0) yield reply.texts;
        after = reply.after;
      }
    },
  };
}

export function idsOf(keys: CollectionKeys, { owner }: Visibility): string {
  return owner === undefined ? keys.ids : keys.owned(owner);
}

/** Calls `attempt` with an index that is ready; undefined when it isn't. */
export async function withIndex<T>(
  indexSetCache: IndexSetCache,
  keys: CollectionKeys,
  query: Pick<FieldQuery, "index" | "field">,
  attempt: (set: IndexSet, index: StoredIndex) => Promise<T | "stale">,
): Promise<T | undefined> {
  // What is known not to be ready may be by now: nothing tells this replica when another one has built it.
  const isKnown = readyIndex((await indexSetCache.get(keys)).indexes, query) !== undefined;
  if (!isKnown) await indexSetCache.reload(keys);
  try {
    return await indexSetCache.retryWhileStale(keys, async (set) => {
      const index = readyIndex(set.indexes, query);
      return index === undefined ? undefined : attempt(set, index);
    });
  } catch (error) {
    // An index that is declared anew all the time is not ready for long enough to be read.
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

function pageOfRanges(deps: PageDeps, read: IndexRead, { ranges = [] }: FieldQuery, range: PageRange) {
  const { keys, version, index, owner } = read;
  const { offset, limit, descending } = range;
  const counted = wholeRanges(ranges, owner);
  const shown = rangesAfter(ranges, { owner, descending, after: undefined });
  const set = setOf(keys, index, owner);
  return deps.rangeScripts.ranges({ keys, set, version, idIs: "last", offset, limit, descending, counted, shown });
}

/** An index's sorted set for those who see all, or one owner's. */
export function setOf(keys: CollectionKeys, index: StoredIndex, owner: Owner | undefined): string {
  return owner === undefined ? keys.index(index.slot) : keys.ownIndex(index.slot);
}

function readyIndex(
  indexes: readonly StoredIndex[],
  { index: name, field }: Pick<FieldQuery, "index" | "field">,
): StoredIndex | undefined {
  const index = indexes.find((each) => each.name === name && each.state === "ready");
  return index === undefined || field === undefined || hasSamePaths(index, field) ? index : undefined;
}

/** The sorted set to read and what the page's members begin with. */
function membersOf(keys: CollectionKeys, index: StoredIndex, owner: Owner | undefined, equals: string | undefined) {
  const parts = [owner, equals].filter((part) => part !== undefined);
  const set = setOf(keys, index, owner);
  return parts.length === 0 ? { set } : { set, begin: parts.map((part) => part + separator).join("") };
}
