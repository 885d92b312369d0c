// When an object expires, by its text and what its resource declares.

import type { ExpiryConfig, FieldPath } from "../../core/config/types.ts";
import { valueAt } from "../../core/json/members.ts";
import { unixMilliseconds } from "../../core/rfc3339.ts";
import { hasSameEntries } from "./order.ts";
import type { StoreIndex } from "./ports/indexes.ts";

/** The largest with fifteen digits; years of RFC 3339 end long before it. */
const never = 999_999_999_999_999;

const created = ["_metadata", "created"] as const;

/** Where the time comes from. */
function expiryPath(expiry: ExpiryConfig): FieldPath["path"] {
  return "field" in expiry ? expiry.field.path : created;
}

/** The index that a store keeps of it. */
export function expiryIndex(expiry: ExpiryConfig): StoreIndex {
  const path = expiryPath(expiry);
  return { name: `expiry(${path.join(".")})`, path, purpose: { expiry } };
}

/** `expiry` = the declaration that it has to be of; undefined = any. */
export function isOfExpiry(index: StoreIndex, expiry?: ExpiryConfig): boolean {
  const { purpose } = index;
  if (purpose === undefined || !("expiry" in purpose)) return false;
  return expiry === undefined || hasSameEntries(index, expiryIndex(expiry));
}

/**
 * Unix milliseconds from which an object is in no answer; undefined = it doesn't expire: there is
 * no value, or, of an earlier schema, one that is no time.
 */
export function expiryTime(
  expiry: ExpiryConfig,
  textAt: (path: FieldPath["path"]) => string | undefined,
): number | undefined {
  const text = textAt(expiryPath(expiry));
  const time = text && timeOf(text);
  if (typeof time !== "number") return undefined;
  const later = "field" in expiry ? time : time + expiry.afterSeconds * 1_000;
  return Math.min(Math.max(0, later), never);
}

/** Whether an object with this text has expired. `now` is the store's time in milliseconds. */
export function hasExpired(expiry: ExpiryConfig, text: string, now: number): boolean {
  const time = expiryTime(expiry, (path) => valueAt(text, path));
  return time !== undefined && time <= now;
}

/** What that index has of an object; undefined = nothing. */
export function encodedExpiry(
  expiry: ExpiryConfig,
  textAt: (path: FieldPath["path"]) => string | undefined,
): string | undefined {
  const time = expiryTime(expiry, textAt);
  return time === undefined ? undefined : encodedTime(time);
}

/** Fifteen digits, which sort as the times do. */
export function encodedTime(milliseconds: number): string {
  return String(milliseconds).padStart(15, "0");
}

export function decodedTime(encoded: string): number {
  return Number(encoded);
}

/** A string is a time of RFC 3339, a number one in Unix seconds. */
function timeOf(text: string): number | undefined {
  if (text.startsWith('"')) return unixMilliseconds(JSON.parse(text) as string);
  return /^[-\d]/.test(text) ? Math.floor(Number(text) * 1_000) : undefined;
}
