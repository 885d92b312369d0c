// The set of a collection's indexes in Redis: which fields, in which sorted sets, how far each one
// is built. Turns the stored hash into an IndexSet and a declaration into the next set.

import type { ExpiryConfig, FieldPath } from "../../../../core/config/types.ts";
import { StoredByOtherVersion } from "../../../../core/errors/store-errors.ts";
import { membersOf, valueAt } from "../../../../core/json/members.ts";
import { listOf, optionalText } from "../../../../core/redis/reply.ts";
import { entryValue, pathsOf, ruleOf } from "../../entry-values.ts";
import { isOfExpiry } from "../../expiry.ts";
import { hasSameEntries } from "../../order.ts";
import { type IndexState, ownersField, type StoreIndex } from "../../ports/indexes.ts";

/**
 * Grows when the entries of an index change, as with encodeSortValue. Indexes with a smaller number
 * are built again, once declared (isReplacedAt). Those with another number are neither read nor
 * written (docs/adr/0093-a-release-reads-what-the-next-one-stores.md).
 */
export const encoding = 1;

export interface StoredIndex extends StoreIndex {
  /**
   * Number of its sorted sets, under the name in the stored JSON. Never used again in this index
   * set, so that a dropped index leaves nothing.
   */
  readonly slot: number;
  readonly encoding: number;
  readonly state: IndexState["state"];
}

export interface IndexSet {
  /** Differs whenever other entries have to be written; "" when nothing was declared. */
  readonly version: string;
  readonly revision: number;
  readonly nextIndexNumber: number;
  readonly indexes: readonly StoredIndex[];
  /** The member of ids after which building continues; undefined when nothing is building. */
  readonly cursor: string | undefined;
  readonly owners: StoredOwners;
  /** What a purge has named the collection; undefined when none has. */
  readonly id: string | undefined;
  /** The oldest configuration that may write objects, by its revision; 0 = any. */
  readonly minRevision: number;
}

/**
 * Whether each object also has entries among those of its owner: `owned` and `ownIndex` in keys.ts.
 */
export interface StoredOwners {
  /** True where nothing was declared. */
  readonly areKept: boolean;
  /** Where adding or removing them continues; undefined when neither is under way. */
  readonly cursor: string | undefined;
}

/** The hash's fields that `indexSetOf` wants, in its order. */
export const indexSetFields = [
  ...["version", "revision", "next", "fields", "cursor", "id"],
  ...["owners", "owners_cursor", "min_revision"],
] as const;

export function indexSetOf(reply: unknown): IndexSet {
  const [version, revision, nextIndexNumber, fields, cursor, id, owners, ownersCursor, minRevision] =
    listOf(reply).map(optionalText);
  return {
    version: version ?? "",
    revision: Number(revision ?? Number.NEGATIVE_INFINITY),
    nextIndexNumber: Number(nextIndexNumber ?? 1),
    indexes: storedIndexesOf(fields ?? "[]"),
    cursor,
    owners: { areKept: owners !== "0", cursor: ownersCursor },
    id,
    minRevision: Number(minRevision ?? 0),
  };
}

/** True when the entries of owners can be read: all are there. */
export function hasAllOwners({ owners }: IndexSet): boolean {
  return owners.areKept && owners.cursor === undefined;
}

/** Those that another version made count as building: nothing can be read of them. */
export function storedIndexesOf(text: string): readonly StoredIndex[] {
  const indexes = JSON.parse(text) as readonly StoredIndex[];
  return indexes.map((index) => (index.encoding === encoding ? index : { ...index, state: "building" }));
}

/** The index of what expires, as of isOfExpiry; undefined also where another version made it. */
export function expiryIndexOf({ indexes }: IndexSet, expiry?: ExpiryConfig): StoredIndex | undefined {
  return indexes.find((index) => index.encoding === encoding && isOfExpiry(index, expiry));
}

/** Whether a declaration takes the place of the set: of a newer configuration, or newer version. */
export function isReplacedAt(revision: number, set: IndexSet): boolean {
  return revision > set.revision || (revision === set.revision && set.indexes.some((each) => each.encoding < encoding));
}

export interface StatedIndexes {
  readonly indexes: readonly StoredIndex[];
  /** Whether owners' entries are being added or removed. */
  readonly isOwnersWalk: boolean;
}

export function indexStates({ indexes, isOwnersWalk }: StatedIndexes): readonly IndexState[] {
  const states = indexes.map(({ state, ...index }) => ({ field: declaredOf(index), state }));
  return isOwnersWalk ? [...states, { field: ownersField, state: "building" }] : states;
}

function declaredOf({ name, path, parts, purpose }: StoreIndex): StoreIndex {
  return { name, path, ...(parts && { parts }), ...(purpose && { purpose }) };
}

export interface Declaration {
  readonly nextIndexNumber: number;
  readonly indexes: readonly StoredIndex[];
  readonly dropped: readonly StoredIndex[];
  /** Indexes that stay, whose owners' entries are dropped. */
  readonly droppedForOwners: readonly StoredIndex[];
  /** True when writers have to write the same entries as before. */
  readonly isSame: boolean;
  /** Where building continues; undefined when nothing is building. */
  readonly cursor: string | undefined;
  readonly owners: StoredOwners;
}

/**
 * The set that replaces `current`: fields that stay keep their entries, new ones start as building.
 */
export function nextIndexSet(
  current: IndexSet,
  fields: readonly StoreIndex[],
  keepsOwners = current.owners.areKept,
): Declaration {
  let nextIndexNumber = current.nextIndexNumber;
  let hasNew = false;
  // Scripts that write check the last ones of those they get.
  const ordered = [...fields].sort((one, other) => Number(isRule(one)) - Number(isRule(other)));
  const indexes = ordered.map((field): StoredIndex => {
    const kept = current.indexes.find((index) => isOf(index, field));
    if (kept !== undefined) return kept;
    hasNew = true;
    const indexNumber = nextIndexNumber;
    nextIndexNumber += 1;
    return { slot: indexNumber, encoding, ...declaredOf(field), state: "building" };
  });
  const dropped = current.indexes.filter((index) => !indexes.includes(index));
  const isSameForOwners = keepsOwners === current.owners.areKept;
  return {
    nextIndexNumber,
    indexes,
    dropped,
    droppedForOwners: isSameForOwners || keepsOwners ? [] : indexes.filter(isOfLists),
    isSame: !hasNew && dropped.length === 0 && isSameForOwners,
    cursor: hasNew ? "" : cursorOf(current, indexes),
    owners: { areKept: keepsOwners, cursor: isSameForOwners ? current.owners.cursor : "" },
  };
}

function cursorOf(current: IndexSet, indexes: readonly StoredIndex[]): string | undefined {
  return indexes.some(({ state }) => state === "building") ? (current.cursor ?? "") : undefined;
}

function isOf(index: StoredIndex, field: StoreIndex): boolean {
  return index.name === field.name && index.encoding === encoding && hasSameEntries(index, field);
}

export function isRule(index: StoreIndex): boolean {
  return ruleOf(index) !== undefined;
}

/** Only the indexes of lists have entries of owners. */
export function isOfLists({ purpose }: StoreIndex): boolean {
  return purpose === undefined;
}

export function allReady(indexes: readonly StoredIndex[]): readonly StoredIndex[] {
  return indexes.map((index) => ({ ...index, state: "ready" }));
}

/** The encoded value of each index in an object's text; "" where it leaves the object out. */
export function encodedValues(indexes: readonly StoredIndex[], text: string): readonly string[] {
  const textAt = fieldReader(indexes, text);
  return indexes.map((index) => entryValue(index, textAt) ?? "");
}

/**
 * An index whose entry a replace writes, with its values as of encodedValues; both are the same
 * while it is building.
 */
export interface IndexMove {
  readonly index: StoredIndex;
  readonly before: string;
  readonly after: string;
}

/** What changes in the indexes with an object's text. */
export function indexMoves(indexes: readonly StoredIndex[], before: string, after: string): readonly IndexMove[] {
  const [oldAt, freshAt] = [fieldReader(indexes, before), fieldReader(indexes, after)];
  const moves: IndexMove[] = [];
  for (const index of indexes) {
    // The builder skips what was changed since it read it: an index that is building needs every
    // entry from its writers.
    const isBuilding = index.state === "building";
    if (!isBuilding && pathsOf(index).every((path) => oldAt(path) === freshAt(path))) continue;
    const move = { index, before: entryValue(index, oldAt) ?? "", after: entryValue(index, freshAt) ?? "" };
    if (isBuilding || move.before !== move.after) moves.push(move);
  }
  return moves;
}

/**
 * The text of each field of these indexes in an object's text. Throws StoredByOtherVersion: what an
 * index of another version has of it is not known.
 */
function fieldReader(indexes: readonly StoredIndex[], text: string): (path: FieldPath["path"]) => string | undefined {
  const other = indexes.find((index) => index.encoding !== encoding);
  if (other !== undefined)
    throw new StoredByOtherVersion(`Index ${other.name} has encoding ${other.encoding}, this program's is ${encoding}`);
  if (indexes.length <= 2 && indexes.every(isOfLists)) return (path) => valueAt(text, path);
  // One pass over the text for all indexes: a text may be long, and there may be sixteen.
  const members = membersOf(text);
  return ([first = "", ...below]) => {
    const member = members.find(({ name }) => name === first);
    return member && valueAt(text.slice(member.valueStart, member.valueEnd), below);
  };
}
