// What lists read of a sorted set. Where objects expire, those that have done so and are stored yet
// are left out by the index of expiry, so that a list needn't wait until they are removed. Throws
// ExpiredInTheWay where too much would be read for this, or that index is missing.

import { keyOfProject } from "../../../../core/config/config-keys.ts";
import { recentlyUsed } from "../../../../core/recently-used.ts";
import type { RedisClient } from "../../../../core/redis/redis-client.ts";
import { optionalText, textsOf } from "../../../../core/redis/reply.ts";
import { unboundedSemaphore } from "../../../../core/semaphore.ts";
import { ExpiredInTheWay, whereInTheWay } from "../../ports/expiry.ts";
import type { CollectionRef } from "../../ports/refs.ts";
import type { CountedExpired, ExpiryIndex, ExpiryScripts } from "../expiry/expiry-scripts.ts";
import type { IndexSetCache } from "../indexes/index-scripts.ts";
import { expiryIndexOf, type IndexSet } from "../indexes/index-set.ts";
import type { ObjectScripts } from "../objects/object-scripts.ts";
import {
  type CountValues,
  hasSameBounds,
  idIn,
  isAll,
  type RangeScripts,
  type RangesReply,
  type ReadMembers,
  type ReadRanges,
  rangesOfPage,
  valueIn,
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
/** Rather than read more for each expired object, they are removed. */
const membersPerRemoval = 10;
/** A list with more members waits for its turn: this process reads one such list at a time. */
const fewMembers = 2_000;
/** Members that a page reads beside its own at first: mostly few of them have expired. */
const spareMembers = 100;
/** Whose expired ids are remembered: up to 3 MiB each. */
const knownCollections = 8;

type ListCall = Pick<ReadRanges, "keys" | "set" | "version" | "idIs">;

/** What has expired, by the index set in force. */
interface Expired extends Counted {
  readonly ids: ReadonlySet<string>;
  /** Members that may be read of a list, else ExpiredInTheWay is thrown. */
  readonly most: number;
}

/** `undefined`: nothing has expired. */
type Read<Reply> = (expired: Expired | undefined) => Promise<Reply | "stale">;

export function createLiveReads(deps: LiveReadDeps): (collection: CollectionRef) => ListReads {
  const { indexSetCache, scripts, rangeScripts, expiryScripts } = deps;
  const plain: ListReads = { page: scripts.page, ...rangeScripts };
  const inTurn = createTurns();
  const known = recentlyUsed<KnownExpired>(knownCollections);

  function idsOf(found: Counted): Promise<ReadonlySet<string>> {
    const name = `${found.keys.tag} ${found.set.version}`;
    const expired = known.get(name) ?? new KnownExpired(deps);
    known.set(name, expired);
    return expired.ids(found);
  }

  async function attempt<Reply>(collection: CollectionRef, call: ListCall, set: IndexSet, read: Read<Reply>) {
    const index = expiryIndexOf(set, collection.expiry);
    if (index === undefined) throw new ExpiredInTheWay("There is no index of what expires");
    const of = { keys: call.keys, set, index };
    const readUpTo = async (most: number) => {
      const found = await expiryScripts.count(of, call.set);
      if (found === "stale") return found;
      if (found.expired === 0) return await read(undefined);
      if (found.expired > mostMembers) throw new ExpiredInTheWay(`${found.expired} objects have expired`);
      return await read({ ...of, ...found, most, ids: await idsOf({ ...of, ...found }) });
    };
    const found = await readUpTo(fewMembers).catch(whereInTheWay);
    return found ?? (await inTurn(collection, { ...call, version: set.version }, () => readUpTo(mostMembers)));
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
        withExpired(collection, { ...call, set: call.sets[0]?.set ?? call.keys.ids }, (expired) =>
          expired === undefined ? plain.members(call) : liveMembers(deps, expired, call),
        ),
      values: (call) =>
        withExpired(collection, call, (expired) =>
          expired === undefined ? plain.values(call) : liveValues(deps, expired, call),
        ),
    };
  };
}

/**
 * One list at a time, and equal ones that wait are read once. After each there is a pause as long
 * as it took, for other requests and the removal.
 */
function createTurns() {
  const turns = unboundedSemaphore(1);
  const waiting = new Map<string, Promise<unknown>>();

  return function inTurn<Reply>(collection: CollectionRef, call: ListCall, read: () => Promise<Reply>) {
    const name = JSON.stringify(call);
    const turn = async (): Promise<Reply> => {
      await turns.acquire(keyOfProject(collection.project));
      waiting.delete(name);
      const begun = performance.now();
      return await read().finally(() => setTimeout(turns.release, performance.now() - begun));
    };
    const waits = (waiting.get(name) as Promise<Reply> | undefined) ?? turn();
    waiting.set(name, waits);
    return waits;
  };
}

/**
 * Remembers what has expired in a collection: the sweep removes from its beginning, and more
 * expires at its end.
 */
class KnownExpired {
  readonly #deps: LiveReadDeps;
  #now = "";
  /** As in the index. */
  #entries: readonly string[] = [];
  #ids: ReadonlySet<string> = new Set();
  /** One reading after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(deps: LiveReadDeps) {
    this.#deps = deps;
  }

  ids(found: Counted): Promise<ReadonlySet<string>> {
    const reading = this.#last.then(() => this.#read(found));
    this.#last = reading.catch(() => undefined);
    return reading;
  }

  async #read(found: Counted): Promise<ReadonlySet<string>> {
    // What is known of a later time is all that a list reads after this.
    if (found.now < this.#now) return this.#ids;
    const removed = this.#entries.findIndex((entry) => entry >= found.first);
    const kept = removed < 0 ? [] : this.#entries.slice(removed);
    const newer = await expiredEntries(this.#deps, found, kept.at(-1));
    // Otherwise others were removed than those that expired first.
    const isAll = kept.length === 0 || kept.length + newer.length === found.expired;
    const base = isAll ? kept : [];
    const added = isAll ? newer : await expiredEntries(this.#deps, found);
    // Lists that are under way go by the former ones.
    const ids = base.length === 0 ? new Set<string>() : new Set(this.#ids);
    for (const entry of this.#entries.slice(0, removed)) ids.delete(idInEntry(entry));
    for (const entry of added) ids.add(idInEntry(entry));
    [this.#now, this.#entries, this.#ids] = [found.now, [...base, ...added], ids];
    return ids;
  }
}

type Counted = CountedExpired & ExpiryIndex;

/** In parts, between which others are served. */
async function expiredEntries(deps: LiveReadDeps, { keys, index, now }: Counted, after?: string) {
  const entries: string[] = [];
  for (let last = after; ; last = entries.at(-1)) {
    const bounds = [last === undefined ? "-" : `(${last}`, `(${now}\u0001`, "BYLEX", "LIMIT", 0, fewMembers];
    const part = await rangeOf(deps, keys.index(index.slot), ...bounds);
    entries.push(...part);
    if (part.length < fewMembers) return entries;
  }
}

function idInEntry(entry: string): string {
  return idIn(entry, "last");
}

function liveFilter({ ids }: Expired, { idIs }: Pick<ListCall, "idIs">): (member: string) => boolean {
  return (member) => !ids.has(idIn(member, idIs));
}

async function rangeOf({ redisClient }: LiveReadDeps, set: string, ...args: readonly (string | number)[]) {
  return textsOf(await redisClient.read(set, "ZRANGE", set, ...args));
}

/** `expired` was read first: what is removed before the members are read would be counted. */
async function liveMembers(deps: LiveReadDeps, expired: Expired, call: ReadMembers) {
  const max = Math.min(call.max + expired.expired * call.sets.length, expired.most);
  const members = await deps.rangeScripts.members({ ...call, version: expired.set.version, max });
  if (members === "too_many" && max === expired.most) throw new ExpiredInTheWay("Too many members have to be read");
  if (typeof members === "string") return members;
  const live = members.filter(liveFilter(expired, call));
  return live.length > call.max ? "too_many" : live;
}

async function liveValues(deps: LiveReadDeps, expired: Expired, call: CountValues) {
  const { set, ranges, max } = call;
  const members = await liveMembers(deps, expired, { ...call, sets: [{ set, ranges }], max: expired.most });
  if (typeof members === "string") return members;
  const counts = Map.groupBy(members, valueIn);
  return counts.size > max ? "too_many" : [...counts].map(([value, { length: count }]) => ({ value, count }));
}

async function liveRanges(deps: LiveReadDeps, expired: Expired, call: ReadRanges): Promise<RangesReply | "stale"> {
  const { counted, shown, offset, limit, descending, idIs } = call;
  const { keys, set } = expired;
  const max = Math.min(expired.most, fewMembers + expired.expired * membersPerRemoval);
  const end = limit === 0 ? 0 : offset + limit + 1;
  const isCounted = counted.length > 0 && !isOfAll(call);
  const members = isCounted
    ? await liveMembers(deps, expired, { ...call, sets: [{ set: call.set, ranges: counted }], max })
    : [];
  if (members === "stale") return members;
  if (members === "too_many" || end > max) throw new ExpiredInTheWay("The list is too long to leave them out");
  const inDirection = <T>(ascending: readonly T[]) => (descending ? ascending.toReversed() : ascending);
  const isShown = isCounted && hasSameBounds(shown, inDirection(counted));
  const first = isShown ? inDirection(members) : await firstLive(deps, expired, call, end);
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
async function firstLive(deps: LiveReadDeps, expired: Expired, call: ReadRanges, wanted: number) {
  const { set, shown, descending } = call;
  const isLive = liveFilter(expired, call);
  const found: string[] = [];
  for (const { from, to } of shown) {
    if (found.length >= wanted) break;
    const bounds = descending ? [to, from, "BYLEX", "REV"] : [from, to, "BYLEX"];
    const missing = wanted - found.length;
    const read = (length: number) => rangeOf(deps, set, ...bounds, "LIMIT", 0, length);
    const begin = await read(missing + spareMembers);
    let some = begin.filter(isLive);
    const isShort = some.length < missing && begin.length === missing + spareMembers;
    if (isShort && missing + expired.expired > expired.most) throw new ExpiredInTheWay("A page is behind them");
    if (isShort) some = (await read(missing + expired.expired)).filter(isLive);
    found.push(...some.slice(0, missing));
  }
  return found;
}
