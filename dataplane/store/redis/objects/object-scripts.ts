// Typed wrappers of the scripts that read and write objects and pages: only they know the positions
// of keys and arguments.

import { RedisFault } from "../../../../core/redis/failure.ts";
import type { RedisClient } from "../../../../core/redis/redis-client.ts";
import { listOf, numberOf, optionalText, textOf, textsOf } from "../../../../core/redis/reply.ts";
import { ruleOf } from "../../entry-values.ts";
import type { IdempotencyRecord, Repeated } from "../../ports/idempotency.ts";
import type { NotUnique } from "../../ports/objects.ts";
import type { Owner } from "../../ports/refs.ts";
import { createWriter, repeatedBy, type WriteCall } from "../idempotency-records.ts";
import { type IndexMove, isOfLists, isRule, type StoredIndex } from "../indexes/index-set.ts";
import { type CollectionKeys, separator } from "../keys.ts";
import { type Code, code, type ScriptReply, scriptReply, storeScript, unexpectedCode } from "../store-script.ts";

/** Maximum bytes of texts per call: reading them takes Redis some four milliseconds. */
const bytesPerCall = 1024 * 1024;
/** An index and the encoded value of the object at hand; "" = the index leaves it out. */
export interface IndexEntry {
  readonly index: StoredIndex;
  readonly value: string;
}

export interface CreateObject {
  readonly keys: CollectionKeys;
  readonly version: string;
  readonly maxObjects: number;
  readonly id: string;
  readonly owner: string;
  readonly text: string;
  /** One for each index of the version. */
  readonly entries: readonly IndexEntry[];
  /** Whether the version keeps owners' entries. */
  readonly keepsOwners: boolean;
  readonly record?: IdempotencyRecord | undefined;
}

/** Of one collection, declared log, version and `maxObjects`, and without records. */
export type CreateObjects = readonly [CreateObject, ...CreateObject[]];

export interface ReplaceObject {
  readonly keys: CollectionKeys;
  readonly version: string;
  /** SHA-1 of the text that was read. */
  readonly previous: string;
  readonly id: string;
  readonly owner: string;
  readonly text: string;
  readonly moves: readonly IndexMove[];
  readonly keepsOwners: boolean;
  /** Present where objects expire: the encoded time of what was read, "" = never. */
  readonly expires?: string | undefined;
}

export interface RemoveObject {
  readonly keys: CollectionKeys;
  readonly version: string;
  readonly previous: string;
  readonly id: string;
  readonly owner: string;
  readonly entries: readonly IndexEntry[];
  readonly keepsOwners: boolean;
}

export interface OwnedObject {
  readonly text: string;
  readonly owner: string;
}

export interface ReadPage {
  readonly keys: CollectionKeys;
  /** The sorted set to read. */
  readonly set: string;
  /** Present when the set is an index, or one owner's: its index set's version. */
  readonly version?: string | undefined;
  /** What every member of the page begins with; absent = all members. */
  readonly begin?: string;
  /** Whether a member begins or ends with the id. */
  readonly idIs: "first" | "last";
  readonly offset: number;
  readonly limit: number;
  readonly descending: boolean;
}

export interface ScanObjects {
  readonly keys: CollectionKeys;
  /** The sorted set of ids to go through. */
  readonly set: string;
  /** Present when the set is one owner's: its index set's version. */
  readonly version?: string | undefined;
  /** Whose objects are read of all ids; absent = all objects of the set. */
  readonly owner?: Owner | undefined;
  /** Id to continue after, "" = from the start. */
  readonly after: string;
}

/** The objects of a page, by id. */
export interface FoundIds {
  /** Number of all members of which the page shows a part. */
  readonly count: number;
  readonly ids: readonly string[];
}

export interface ScanReply {
  readonly texts: readonly string[];
  /** Id to continue after, undefined at the end. */
  readonly after: string | undefined;
}

/** Outcomes of the scripts that write objects, as codes. */
export type ObjectCode = Extract<Code, 0 | 1 | 2 | 3 | 4>;

export interface ObjectScripts {
  create(call: CreateObject): Promise<ObjectCode | Repeated | NotUnique>;
  /** Several in one step, as if alone; `failed` = only a call for it alone says why. */
  createTogether(calls: CreateObjects): Promise<readonly (ObjectCode | typeof code.failed)[]>;
  replace(call: ReplaceObject): Promise<ObjectCode | NotUnique>;
  remove(call: RemoveObject): Promise<ObjectCode>;
  /** Undefined when there is none, or `owner` doesn't own it. */
  read(keys: CollectionKeys, id: string, owner?: string): Promise<OwnedObject | undefined>;
  page(call: ReadPage): Promise<FoundIds | "stale">;
  /** The first texts that the limit allows, at least one; undefined where one is gone. */
  readMany(keys: CollectionKeys, ids: readonly string[]): Promise<readonly (string | undefined)[]>;
  scan(call: ScanObjects): Promise<ScanReply | "stale">;
}

const objectsPerScan = 250;

export function createObjectScripts(redisClient: RedisClient): ObjectScripts {
  const createScript = storeScript("objects/create-objects-n", "write");
  const create = createWriter(redisClient, createScript);
  const replace = storeScript("objects/replace-object-n", "write");
  const remove = storeScript("objects/remove-object-n", "write");
  const read = storeScript("objects/read-object-2", "read");
  const page = storeScript("lists/read-page-2", "read");
  const readMany = storeScript("lists/read-objects-n", "read");
  const scan = storeScript("lists/scan-objects-2", "read");

  return {
    async create(call) {
      const record = call.record && { ...call.record, key: call.keys.record(call.record.key) };
      const reply = await create({ ...createArguments([call]), record });
      return (
        repeatedBy(reply) ?? notUniqueBy(reply, call.entries.map(indexOf)) ?? objectCode(createScript.name, reply.code)
      );
    },
    async createTogether(calls) {
      const { keys, args } = createArguments(calls);
      const codes = listOf(await redisClient.run(createScript, keys, args)).map((each) => numberOf(each) as Code);
      if (codes[0] === code.stale_index_set) return calls.map(() => code.stale_index_set);
      if (codes.length !== calls.length)
        throw new RedisFault(
          `The script ${createScript.name} answered for ${codes.length} of ${calls.length} objects`,
          {
            code: "REPLY",
          },
        );
      return codes.map((each) => (each === code.failed ? each : objectCode(createScript.name, each)));
    },
    async replace({ keys, version, previous, id, owner, text, moves, keepsOwners, expires }) {
      const indexes = moves.map(indexOf);
      const own = [keys.indexSet, keys.objectKey(id), keys.log, ...indexKeys(keys, indexes, keepsOwners)];
      const ownedBy = keepsOwners ? owner : undefined;
      const values = (of: "before" | "after") =>
        setValues(
          moves.map(({ index, [of]: value }) => ({ index, value })),
          ownedBy,
        );
      const rules = indexes.filter(isRule).length;
      const first = [version, previous, id, owner, text, rules, keys.declaredLog];
      const args = [...first, ...values("before"), ...values("after")];
      if (expires !== undefined) args.push(expires);
      const reply = scriptReply(await redisClient.run(replace, own, args));
      return notUniqueBy(reply, indexes) ?? objectCode(replace.name, reply.code);
    },
    async remove({ keys, version, previous, id, owner, entries, keepsOwners }) {
      const object = [keys.indexSet, keys.ids, keys.owned(owner), keys.objectKey(id), keys.log];
      const own = [...object, ...indexKeys(keys, entries.map(indexOf), keepsOwners)];
      const values = setValues(entries, keepsOwners ? owner : undefined);
      const args = [version, previous, id, owner, keys.declaredLog, ...values];
      return objectCode(remove.name, scriptReply(await redisClient.run(remove, own, args)).code);
    },
    async read(keys, id, owner = "") {
      const reply = scriptReply(await redisClient.run(read, [keys.ids, keys.objectKey(id)], [id, owner]));
      if (reply.code === code.not_found) return undefined;
      return { text: textOf(reply.rest[0]), owner: textOf(reply.rest[1]) };
    },
    async page(call) {
      const reply = scriptReply(await redisClient.run(page, [call.set, call.keys.indexSet], pageArguments(call)));
      if (reply.code === code.stale_index_set) return "stale";
      const [count, ids] = reply.rest;
      return { count: numberOf(count), ids: textsOf(ids) };
    },
    async readMany(keys, ids) {
      const reply = scriptReply(await redisClient.run(readMany, ids.map(keys.objectKey), [bytesPerCall]));
      const texts = listOf(reply.rest[0]).map(optionalText);
      // An empty reply would make the caller loop forever.
      if (texts.length === 0 && ids.length > 0)
        throw new RedisFault(`The script ${readMany.name} read none of the objects`, { code: "REPLY" });
      return texts;
    },
    async scan({ keys, set, version = "*", owner = "", after }) {
      const args = [keys.objectKeyPrefix, after, objectsPerScan, bytesPerCall, version, owner];
      const replied = redisClient.run(scan, [set, keys.indexSet], args);
      // Who scans has the batch before to work on.
      redisClient.sendNow();
      const reply = scriptReply(await replied);
      if (reply.code === code.stale_index_set) return "stale";
      const texts = listOf(reply.rest[0]).map(optionalText);
      return { texts: texts.filter((text) => text !== undefined), after: textOf(reply.rest[1]) || undefined };
    },
  };
}

/** The sorted sets of each index: its own, and that of owners' entries where they are kept. */
export function indexKeys(
  keys: CollectionKeys,
  indexes: readonly StoredIndex[],
  keepsOwners: boolean,
): readonly string[] {
  const sets: string[] = [];
  for (const index of indexes) {
    sets.push(keys.index(index.slot));
    if (keepsOwners && isOfLists(index)) sets.push(keys.ownIndex(index.slot));
  }
  return sets;
}

/** What an object's member begins with in each of those sets, before its id; "" = it has none. */
export function setValues(entries: readonly IndexEntry[], owner: Owner | undefined): readonly string[] {
  const values: string[] = [];
  for (const { index, value } of entries) {
    values.push(value);
    if (owner !== undefined && isOfLists(index)) values.push(owner + separator + value);
  }
  return values;
}

function indexOf({ index }: { readonly index: StoredIndex }): StoredIndex {
  return index;
}

function createArguments(calls: CreateObjects): Pick<WriteCall, "keys" | "args"> {
  const [{ keys, version, maxObjects, keepsOwners, entries: of }] = calls;
  const objectKeys = calls.flatMap(({ id, owner }) =>
    keepsOwners ? [keys.objectKey(id), keys.owned(owner)] : [keys.objectKey(id)],
  );
  const objects = calls.flatMap(({ id, owner, text, entries }) => {
    const values = setValues(inOrderOf(of, entries), keepsOwners ? owner : undefined);
    return [id, owner, text, ...values];
  });
  const indexes = of.map(indexOf);
  const sets = indexKeys(keys, indexes, keepsOwners);
  const rules = indexes.filter(isRule).length;
  return {
    keys: [keys.indexSet, keys.ids, keys.log, ...sets, ...objectKeys],
    args: [version, maxObjects, keepsOwners ? 1 : 0, sets.length, rules, keys.declaredLog, ...objects],
  };
}

/** A reply's number of a rule counts those of the indexes that the script got, from 1. */
function notUniqueBy({ code: found, rest }: ScriptReply, indexes: readonly StoredIndex[]): NotUnique | undefined {
  if (found !== code.not_unique) return undefined;
  const rule = indexes.map(ruleOf).filter((each) => each !== undefined)[numberOf(rest[0]) - 1];
  if (rule === undefined) throw new RedisFault("A script answered with a rule that it did not get", { code: "REPLY" });
  return { outcome: "not_unique", rule };
}

/**
 * A declaration that changes only the order keeps the version, so that calls of one turn may have
 * two orders.
 */
function inOrderOf(of: readonly IndexEntry[], entries: readonly IndexEntry[]): readonly IndexEntry[] {
  return of.map(({ index }, at) => {
    const isSame = (each: IndexEntry | undefined) => each?.index.slot === index.slot;
    const entry = isSame(entries[at]) ? entries[at] : entries.find(isSame);
    if (entry === undefined) throw new Error(`A version of the index set has the index ${index.name} for some callers`);
    return entry;
  });
}

function pageArguments(call: ReadPage): readonly (string | number)[] {
  const { version = "*", begin = "", idIs, offset, limit, descending } = call;
  return [version, begin, begin && behindAll(begin), idIs, offset, limit, descending ? 1 : 0];
}

/**
 * The first text after all that begin so: instead of the separator, the lowest byte, the next one.
 */
export function behindAll(begin: string): string {
  return `${begin.slice(0, -separator.length)}\u0001`;
}

function objectCode(script: string, found: Code): ObjectCode {
  switch (found) {
    case code.done:
    case code.stale_index_set:
    case code.quota_exceeded:
    case code.conflict:
    case code.not_found:
      return found;
    default:
      throw unexpectedCode(script, found);
  }
}
