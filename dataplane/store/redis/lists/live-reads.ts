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
  readonly ids: ReadonlySet<string>;
}

/** `undefined`: nothing has expired. */
type Read<Reply> = (expired: Expired | undefined) => Promise<Reply | "stale">;

export function createLiveReads(deps: LiveReadDeps): (collection: CollectionRef) => ListReads {
  const { indexSetCache, scripts, rangeScripts, expiryScripts } = deps;
  const plain: ListReads = { page: scripts.page, ...rangeScripts };
  const inTurn = createTurns();
  const known = new KnownExpired(deps);

  async function attempt<Reply>(collection: CollectionRef, call: ListCall, set: IndexSet, read: Read<Reply>) {
    const index = set.indexes.find((each) => isOfExpiry(each, collection.expiry));
    if (index === undefined) throw new ExpiredInTheWay("There is no index of what expires");
    const of = { keys: call.keys, set, index };
    const count = () => expiryScripts.count(of, call.set);
    const found = await count();
    if (found === "stale") return found;
    if (found.expired === 0) return await read(undefined);
    if (found.expired <= fewExpired) {
      const entries = await expiredEntries(deps, { ...of, ...found });
      return await read({ ...of, ...found, ids: new Set(entries.map(idInEntry)) });
    }
    return await inTurn(collection, { ...call, version: set.version }, async () => {
      const again = await count();
      if (again === "stale") return again;
      if (again.expired === 0) return await read(undefined);
      if (again.expired > mostMembers) throw new ExpiredInTheWay(`${again.expired} objects have expired`);
      return await read({ ...of, ...again, ids: await known.ids({ ...of, ...again }) });
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
        withExpired(collection, call, (expired) =>
          expired === undefined ? plain.members(call) : liveMembers(deps, expired, call),
        ),
    };
  };
}

/** One list at a time, and equal ones that wait are read once. */
function createTurns() {
  const refusal = () => new Error("Any number of lists may wait");
  const turns = createSemaphore({ concurrency: 1, maxWaiting: Number.POSITIVE_INFINITY, refusal });
  const waiting = new Map<string, Promise<unknown>>();

  return function inTurn<Reply>(collection: CollectionRef, call: ListCall, read: () => Promise<Reply>) {
    const name = JSON.stringify(call);
    const turn = async (): Promise<Reply> => {
      await turns.acquire(keyOfProject(collection.project));
      waiting.delete(name);
      return await read().finally(turns.release);
    };
    const waits = (waiting.get(name) as Promise<Reply> | undefined) ?? turn();
    waiting.set(name, waits);
    return waits;
  };
}

/**
 * Remembers what has expired in the collection that was asked for last: it is removed from its
 * beginning, and more expires at its end.
 */
class KnownExpired {
  readonly #deps: LiveReadDeps;
  #of = "";
  /** As in the index. */
  #entries: string[] = [];
  #ids = new Set<string>();

  constructor(deps: LiveReadDeps) {
    this.#deps = deps;
  }

  /** They hold until the next call. */
  async ids(found: CountedExpired & ExpiryIndex): Promise<ReadonlySet<string>> {
    const of = `${found.keys.tag} ${found.set.version}`;
    if (of !== this.#of) this.#set(of, []);
    const kept = this.#entries.findIndex((entry) => entry >= found.first);
    for (const entry of this.#entries.splice(0, kept < 0 ? this.#entries.length : kept)) {
      this.#ids.delete(idInEntry(entry));
    }
    const isNew = this.#entries.length === 0;
    for (const entry of await expiredEntries(this.#deps, found, this.#entries.at(-1))) {
      this.#entries.push(entry);
      this.#ids.add(idInEntry(entry));
    }
    // Otherwise others were removed than those that expired first.
    if (!isNew && this.#entries.length !== found.expired) this.#set(of, await expiredEntries(this.#deps, found));
    return this.#ids;
  }

  #set(of: string, entries: readonly string[]): void {
    this.#of = of;
    this.#entries = [...entries];
    this.#ids = new Set(entries.map(idInEntry));
  }
}

function expiredEntries(deps: LiveReadDeps, { keys, index, now }: CountedExpired & ExpiryIndex, after?: string) {
  const from = after === undefined ? "-" : `(${after}`;
  return rangeOf(deps, keys.index(index.slot), from, `(${now}\u0001`, "BYLEX");
}

function idInEntry(entry: string): string {
  return idIn(entry, "last");
}

function liveFilter({ ids }: Expired, { idIs }: ListCall): (member: string) => boolean {
  return (member) => !ids.has(idIn(member, idIs));
}

async function rangeOf({ redisClient }: LiveReadDeps, set: string, ...args: readonly (string | number)[]) {
  return textsOf(await redisClient.read(set, "ZRANGE", set, ...args));
}

/** `expired` was read first: what is removed before the members are read would be counted. */
async function liveMembers(deps: LiveReadDeps, expired: Expired, call: ReadMembers) {
  const max = call.max + expired.expired;
  const members = await deps.rangeScripts.members({ ...call, version: expired.set.version, max });
  if (typeof members === "string") return members;
  const live = members.filter(liveFilter(expired, call));
  return live.length > call.max ? "too_many" : live;
}

async function liveRanges(deps: LiveReadDeps, expired: Expired, call: ReadRanges): Promise<RangesReply | "stale"> {
  const { counted, shown, offset, limit, descending, idIs } = call;
  const { keys, set } = expired;
  const max = Math.min(mostMembers, fewExpired + expired.expired * membersPerRemoval);
  const end = limit === 0 ? 0 : offset + limit + 1;
  const isCounted = counted.length > 0 && !isOfAll(call);
  const members = isCounted ? await liveMembers(deps, expired, { ...call, ranges: counted, max }) : [];
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
    if (isShort) some = (await read(missing + expired.expired)).filter(isLive);
    found.push(...some.slice(0, missing));
  }
  return found;
}
