// What lists read of a sorted set. Where objects expire, those that have done so and are stored yet
// are left out by the index of expiry, so that a list needn't wait until they are removed. Throws
// ExpiredInTheWay where too much would be read for this, or that index is missing.

import { keyOfProject } from "../../../../core/config/config-keys.ts";
import type { RedisClient } from "../../../../core/redis/redis-client.ts";
import { optionalText, textsOf } from "../../../../core/redis/reply.ts";
import { createSemaphore } from "../../../../core/semaphore.ts";
import { isOfExpiry } from "../../expiry.ts";
import { ExpiredInTheWay } from "../../ports/expiry.ts";
import type { CollectionRef } from "../../ports/refs.ts";
import type { CountedExpired, ExpiryIndex, ExpiryScripts } from "../expiry/expiry-scripts.ts";
import type { IndexSetCache } from "../indexes/index-scripts.ts";
import type { IndexSet } from "../indexes/index-set.ts";
import type { ObjectScripts } from "../objects/object-scripts.ts";
import {
  hasSameBounds,
  idIn,
  isAll,
  type RangeScripts,
  type RangesReply,
  type ReadMembers,
  type ReadRanges,
  rangesOfPage,
} from "./ranges.ts";

export type ListReads = Pick<ObjectScripts, "page"> & RangeScripts;

export interface LiveReadDeps {
  readonly redisClient: RedisClient;
  readonly indexSetCache: IndexSetCache;
  readonly scripts: Pick<ObjectScripts, "page">;
  readonly rangeScripts: RangeScripts;
  readonly expiryScripts: Pick<ExpiryScripts, "count">;
}

/** They take Redis 2 ms, or 10 in a script, and this process some 15 ms. */
const mostMembers = 20_000;
/** Reading so many takes as long as removing one expired object. */
const membersPerRemoval = 50;
/** With more of them, a list waits for its turn: this process reads one such list at a time. */
const fewExpired = 1_000;
/** Members that a page reads beside its own at first: mostly few of them have expired. */
const spareMembers = 100;

type ListCall = Pick<ReadMembers, "keys" | "set" | "version" | "idIs">;

/** What has expired, by the index set in force. */
interface Expired extends CountedExpired, ExpiryIndex {
  /** Reads their ids. */
  ids(): Promise<ReadonlySet<string>>;
}

/** `undefined`: nothing has expired. */
type Read<Reply> = (expired: Expired | undefined) => Promise<Reply | "stale">;

export function createLiveReads(deps: LiveReadDeps): (collection: CollectionRef) => ListReads {
  const { indexSetCache, scripts, rangeScripts, expiryScripts } = deps;
  const plain: ListReads = { page: scripts.page, ...rangeScripts };
  const inTurn = createTurns();

  async function attempt<Reply>(collection: CollectionRef, call: ListCall, set: IndexSet, read: Read<Reply>) {
    const index = set.indexes.find((each) => isOfExpiry(each, collection.expiry));
    if (index === undefined) throw new ExpiredInTheWay("There is no index of what expires");
    const of = { keys: call.keys, set, index };
    const count = () => expiryScripts.count(of, call.set);
    const ids = (now: string) => idsOfExpired(deps, of, now);
    const found = await count();
    if (found === "stale") return found;
    if (found.expired <= fewExpired) return await readBy({ ...of, ...found, ids: () => ids(found.now) }, read);
    return await inTurn(collection, { ...call, version: set.version }, async (shared) => {
      const again = await count();
      if (again === "stale") return again;
      return await readBy({ ...of, ...again, ids: () => shared(() => ids(again.now)) }, read);
    });
  }

  function withExpired<Reply>(collection: CollectionRef, call: ListCall, read: Read<Reply>) {
    const { keys, version } = call;
    const inSet = (set: IndexSet) => attempt(collection, call, set, read);
    if (version === undefined) return indexSetCache.retryWhileStale(keys, inSet);
    return indexSetCache.get(keys).then((set) => (set.version === version ? inSet(set) : "stale"));
  }

  return (collection) => {
    if (collection.expiry === undefined) return plain;
    return {
      page: (call) =>
        withExpired(collection, call, (expired) =>
          expired === undefined ? plain.page(call) : liveRanges(deps, expired, rangesOfPage(call)),
        ),
      ranges: (call) =>
        withExpired(collection, call, (expired) =>
          expired === undefined ? plain.ranges(call) : liveRanges(deps, expired, call),
        ),
      members: (call) =>
        withExpired(collection, call, async (expired) =>
          expired === undefined ? plain.members(call) : liveMembers(deps, await liveSet(expired, call), call),
        ),
    };
  };
}

async function readBy<Reply>(found: Expired, read: Read<Reply>) {
  if (found.expired === 0) return await read(undefined);
  if (found.expired > mostMembers) throw new ExpiredInTheWay(`${found.expired} objects have expired`);
  return await read(found);
}

async function idsOfExpired(deps: LiveReadDeps, { keys, index }: ExpiryIndex, now: string) {
  const entries = await rangeOf(deps, keys.index(index.slot), "-", `(${now}\u0001`, "BYLEX");
  return new Set(entries.map((entry) => idIn(entry, "last")));
}

/** Reads the ids of what has expired, or has them from a reading that began after the list came. */
type Shared = (read: () => Promise<ReadonlySet<string>>) => Promise<ReadonlySet<string>>;

/** One list at a time, and equal ones that wait are read once. */
function createTurns() {
  const refusal = () => new Error("Any number of lists may wait");
  const turns = createSemaphore({ concurrency: 1, maxWaiting: Number.POSITIVE_INFINITY, refusal });
  const waiting = new Map<string, Promise<unknown>>();
  let last: { readonly of: string; readonly begun: number; readonly ids: Promise<ReadonlySet<string>> } | undefined;
  let arrivals = 0;

  return function inTurn<Reply>(collection: CollectionRef, call: ListCall, read: (shared: Shared) => Promise<Reply>) {
    const name = JSON.stringify(call);
    const of = `${call.keys.tag} ${call.version}`;
    const arrival = ++arrivals;
    const shared: Shared = (readIds) => {
      if (last?.of !== of || last.begun < arrival) last = { of, begun: arrivals, ids: readIds() };
      return last.ids;
    };
    const turn = async (): Promise<Reply> => {
      await turns.acquire(keyOfProject(collection.project));
      waiting.delete(name);
      try {
        return await read(shared);
      } finally {
        if (waiting.size === 0) last = undefined;
        turns.release();
      }
    };
    const waits = (waiting.get(name) as Promise<Reply> | undefined) ?? turn();
    waiting.set(name, waits);
    return waits;
  };
}

/** A sorted set as if its expired objects were removed. */
interface LiveSet {
  readonly expired: Expired;
  isLive(member: string): boolean;
}

/** Reads what has expired first: what is removed before the set is read would be counted. */
async function liveSet(expired: Expired, { idIs }: ListCall): Promise<LiveSet> {
  const ids = await expired.ids();
  return { expired, isLive: (member) => !ids.has(idIn(member, idIs)) };
}

async function rangeOf({ redisClient }: LiveReadDeps, set: string, ...args: readonly (string | number)[]) {
  return textsOf(await redisClient.read(set, "ZRANGE", set, ...args));
}

async function liveMembers(deps: LiveReadDeps, { expired, isLive }: LiveSet, call: ReadMembers) {
  const max = call.max + expired.expired;
  const members = await deps.rangeScripts.members({ ...call, version: expired.set.version, max });
  if (typeof members === "string") return members;
  const live = members.filter(isLive);
  return live.length > call.max ? "too_many" : live;
}

async function liveRanges(deps: LiveReadDeps, expired: Expired, call: ReadRanges): Promise<RangesReply | "stale"> {
  const { counted, shown, offset, limit, descending, idIs } = call;
  const { keys, set } = expired;
  const max = Math.min(mostMembers, fewExpired + expired.expired * membersPerRemoval);
  const end = limit === 0 ? 0 : offset + limit + 1;
  const isCounted = counted.length > 0 && !isOfAll(call);
  const live = await liveSet(expired, call);
  const members = isCounted ? await liveMembers(deps, live, { ...call, ranges: counted, max }) : [];
  if (members === "stale") return members;
  if (members === "too_many" || end > max) throw new ExpiredInTheWay("The list is too long to leave them out");
  const inDirection = <T>(ascending: readonly T[]) => (descending ? ascending.toReversed() : ascending);
  const isShown = isCounted && hasSameBounds(shown, inDirection(counted));
  const first = isShown ? inDirection(members) : await firstLive(deps, live, call, end);
  // An index that was dropped meanwhile is empty.
  const version = optionalText(await deps.redisClient.read(keys.indexSet, "HGET", keys.indexSet, "version")) ?? "";
  if (version !== set.version) return "stale";
  const page = first.slice(offset, offset + limit);
  return {
    count: isOfAll(call) ? expired.members - expired.expired : members.length,
    ids: page.map((member) => idIn(member, idIs)),
    last: first.length > offset + limit ? page.at(-1) : undefined,
  };
}

/** Whether all objects are counted: each that has expired is among them. */
function isOfAll({ keys, set, idIs, counted }: ReadRanges): boolean {
  return counted.length === 1 && counted.every(isAll) && (idIs === "last" || set === keys.ids);
}

/** The first members of the ranges, in the page's direction. */
async function firstLive(deps: LiveReadDeps, live: LiveSet, { set, shown, descending }: ReadRanges, wanted: number) {
  const found: string[] = [];
  for (const { from, to } of shown) {
    if (found.length >= wanted) break;
    const bounds = descending ? [to, from, "BYLEX", "REV"] : [from, to, "BYLEX"];
    const missing = wanted - found.length;
    const read = (length: number) => rangeOf(deps, set, ...bounds, "LIMIT", 0, length);
    const begin = await read(missing + spareMembers);
    let some = begin.filter(live.isLive);
    const isShort = some.length < missing && begin.length === missing + spareMembers;
    if (isShort) some = (await read(missing + live.expired.expired)).filter(live.isLive);
    found.push(...some.slice(0, missing));
  }
  return found;
}
