// Turns a value's canonical JSON text into a string whose bytes sort as docs/queries.md orders
// values.
//
// Missing and null < false < true < numbers by exact value < strings by code points < arrays <
// objects. Strings count up to the code point with their 1,024th byte of UTF-8; arrays are equal to
// one another, and so are objects. An encoding contains no NUL, so that `<encoding>\0<id>` sorts by
// value, then by id, and `<encoding>\0<encoding>\0<id>` by two values. Indexes and scans use the
// same encodings, so both have one order and one equality.
//
// Stored indexes contain encodings. A change of them here has to raise `encoding` in
// redis/indexes/index-set.ts, and to add a step to embedded/schema.ts that builds all indexes
// again. Otherwise old and new entries mix in one index, and lists leave objects out.

import { isDeepStrictEqual } from "node:util";
import type { FieldPath, IndexField } from "../../core/config/types.ts";
import { stepped } from "../../core/json/number.ts";
import type { StoreIndex } from "./ports/indexes.ts";

const rank = { null: "0", false: "1", true: "2", number: "3", string: "4", array: "5", object: "6" } as const;

/** Bytes of UTF-8 after which code points of a string don't count. */
export const encodedStringBytes = 1024;

/** The sort key of a value, or of a missing one. `1` and `1.0`, `0` and `-0.0` are equal. */
export function encodeSortValue(valueText: string | undefined): string {
  if (valueText === undefined) return rank.null;
  switch (valueText.charAt(0)) {
    case "n":
      return rank.null;
    case "f":
      return rank.false;
    case "t":
      return rank.true;
    case '"':
      return rank.string + escapedString(JSON.parse(valueText) as string);
    case "[":
      return rank.array;
    case "{":
      return rank.object;
    default:
      return rank.number + orderedNumber(valueText);
  }
}

/**
 * The JSON text of an encoded value; undefined for arrays, objects, and strings that may be cut. A
 * missing value is null.
 */
export function decodeSortValue(encoded: string): string | undefined {
  const digits = encoded.slice(1);
  switch (encoded.charAt(0)) {
    case rank.null:
      return "null";
    case rank.false:
      return "false";
    case rank.true:
      return "true";
    case rank.number:
      return decodedNumber(digits);
    case rank.string:
      return Buffer.byteLength(unescapedString(digits)) < encodedStringBytes
        ? JSON.stringify(unescapedString(digits))
        : undefined;
    default:
      return undefined;
  }
}

/** Between the values of an index of two fields: sorts before anything else. */
export const betweenValues = "\0";

/** What an index has of an object: its field's encoded value, or those of both its fields. */
export function encodeIndexed(
  { path, parts }: Pick<IndexField, "path" | "parts">,
  textAt: (path: FieldPath["path"]) => string | undefined,
): string {
  if (parts === undefined) return encodeSortValue(textAt(path));
  return parts.map((part) => encodeSortValue(textAt(part.path))).join(betweenValues);
}

/**
 * Compares as the bytes of UTF-8 do, by code points; JavaScript's `<` sorts U+FFFD after U+1F600.
 */
export function compareEncoded(left: string, right: string): number {
  const shared = Math.min(left.length, right.length);
  for (let at = 0; at < shared; at++) {
    const a = left.charCodeAt(at);
    const b = right.charCodeAt(at);
    if (a !== b) return byCodePoint(a) - byCodePoint(b);
  }
  return left.length - right.length;
}

/** Surrogates stand for code points above all others. */
function byCodePoint(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

function escapedString(value: string): string {
  const counted = value.length > encodedStringBytes / 3 ? prefixThatCounts(value) : value;
  return counted.replaceAll("\u0001", "\u0001\u0002").replaceAll("\u0000", "\u0001\u0001");
}

function unescapedString(text: string): string {
  return text.replaceAll("\u0001\u0001", "\u0000").replaceAll("\u0001\u0002", "\u0001");
}

/**
 * The code points that begin within the first bytes. The last one counts even when it ends beyond:
 * cut before it, a string would sort before one that it follows.
 */
function prefixThatCounts(value: string): string {
  let bytes = 0;
  let at = 0;
  while (at < value.length && bytes < encodedStringBytes) {
    const point = value.codePointAt(at) ?? 0;
    bytes += utf8Length(point);
    at += point > 0xffff ? 2 : 1;
  }
  return value.slice(0, at);
}

function utf8Length(point: number): number {
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x10000 ? 3 : 4;
}

/**
 * Sixteen ordered hexadecimal digits of the largest double that is not above the value, then three
 * of the rest when the value is an integer between doubles (at most 2,047). Final zeros are
 * dropped: `\0` sorts as they would.
 */
function orderedNumber(text: string): string {
  const isExact = text.length <= 15 || /[.e]/.test(text);
  if (isExact) return orderedDouble(Number(text)).replace(/0+$/, "");
  const integer = BigInt(text);
  const nearest = Number(text);
  const below = BigInt(nearest) > integer ? stepped(nearest, -1) : nearest;
  const rest = Number(integer - BigInt(below));
  const digits = orderedDouble(below) + rest.toString(16).padStart(3, "0");
  return digits.replace(/0+$/, "");
}

function decodedNumber(digits: string): string {
  const all = digits.padEnd(doubleDigits + 3, "0");
  const double = doubleOf(BigInt(`0x${all.slice(0, doubleDigits)}`));
  const rest = BigInt(`0x${all.slice(doubleDigits)}`);
  // Beyond it, integers are stored in exponential notation.
  return Number.isInteger(double) && Math.abs(double) < 1e21 ? String(BigInt(double) + rest) : String(double);
}

const doubleDigits = 16;
const zero = 2n ** 63n;

function doubleOf(ordered: bigint): number {
  bits.setBigUint64(0, ordered < zero ? zero - ordered : ordered - zero);
  return ordered < zero ? -bits.getFloat64(0) : bits.getFloat64(0);
}

const bits = new DataView(new ArrayBuffer(8));

/** 2^63 plus or minus the magnitude's bits: both zeros are equal, round numbers end in zeros. */
function orderedDouble(value: number): string {
  bits.setFloat64(0, value);
  const high = bits.getUint32(0);
  const low = bits.getUint32(4);
  if (high < 0x8000_0000) return hex(high + 0x8000_0000) + hex(low);
  const borrow = low === 0 ? 0 : 1;
  return hex(0x1_0000_0000 - high - borrow) + hex(-low);
}

/** The number's lowest 32 bits, as eight digits. */
function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, "0");
}

/** Whether two indexes of one name have the same entries. */
export function hasSameEntries(one: StoreIndex, other: StoreIndex): boolean {
  if (one === other) return true;
  if (one.purpose !== other.purpose && !isDeepStrictEqual(one.purpose, other.purpose)) return false;
  const [ones, others] = [one.parts ?? [], other.parts ?? []];
  return (
    isSamePath(one.path, other.path) &&
    ones.length === others.length &&
    ones.every(({ name, path }, at) => name === others[at]?.name && isSamePath(path, others[at].path))
  );
}

function isSamePath(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((part, at) => part === other[at]);
}
