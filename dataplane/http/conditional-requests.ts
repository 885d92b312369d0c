// Evaluates If-Match and If-None-Match (RFC 9110 §13): 304 or 412 where they fail. Refuses anything
// but `*` and lists of entity tags: a condition that is not understood must not pass. A tag is a
// strong hash of the canonical text of the stored value, also where `?_fields=` shows a part of it.

import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { Problem } from "../../core/errors/problem.ts";
import type { HttpResponse } from "./exchange.ts";

interface SentTag {
  readonly isWeak: boolean;
  /** With its quotes. */
  readonly opaque: string;
}

/** `any` = `*`. A list may be empty (RFC 9110 §5.6.1): then no tag matches it. */
type SentTags = "any" | readonly SentTag[];

export interface Preconditions {
  readonly ifMatch?: SentTags;
  readonly ifNoneMatch?: SentTags;
}

/** The first one that fails. */
type PreconditionResult = "holds" | "if_match_fails" | "if_none_match_fails";

/** Undefined when the request has none. Throws Problem `invalid_header`. */
export function preconditionsOf(headers: IncomingHttpHeaders): Preconditions | undefined {
  const ifMatch = headers["if-match"];
  const ifNoneMatch = headers["if-none-match"];
  if (ifMatch === undefined && ifNoneMatch === undefined) return undefined;
  return {
    ...(ifMatch !== undefined && { ifMatch: tagsOf("If-Match", ifMatch) }),
    ...(ifNoneMatch !== undefined && { ifNoneMatch: tagsOf("If-None-Match", ifNoneMatch) }),
  };
}

/** `tag`: the strong tag of what is there; undefined = nothing is. */
function evaluate({ ifMatch, ifNoneMatch }: Preconditions, tag: string | undefined): PreconditionResult {
  if (ifMatch !== undefined && !includes(ifMatch, tag, "strong")) return "if_match_fails";
  if (ifNoneMatch !== undefined && includes(ifNoneMatch, tag, "weak")) return "if_none_match_fails";
  return "holds";
}

function includes(tags: SentTags, tag: string | undefined, comparison: "strong" | "weak"): boolean {
  if (tag === undefined) return false;
  if (tags === "any") return true;
  return tags.some(({ isWeak, opaque }) => opaque === tag && (comparison === "weak" || !isWeak));
}

/** One element of the list, which may be empty, and the comma after it. */
const element = /[ \t]*(?:(W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/y;

function tagsOf(name: string, value: string): SentTags {
  if (value.trim() === "*") return "any";
  const tags: SentTag[] = [];
  for (let at = 0; at < value.length; at = element.lastIndex) {
    element.lastIndex = at;
    const found = element.exec(value);
    if (found === null) throw malformed(name);
    const [, weak, opaque] = found;
    if (opaque !== undefined) tags.push({ isWeak: weak !== undefined, opaque });
  }
  return tags;
}

function malformed(name: string): Problem {
  return new Problem("invalid_header", `${name} must be * or a list of entity tags, each in double quotes as in ETag`);
}

/**
 * SHA-1 takes a microsecond for most objects. It distinguishes states; no security depends on it.
 */
export function entityTag(text: string): string {
  return `"${hash("sha1", text, "base64url")}"`;
}

/** The response to a read: the value, or 304. Throws `precondition_failed`. */
export function currentResponse(text: string, preconditions: Preconditions | undefined): HttpResponse {
  const tag = entityTag(text);
  const headers = { ETag: tag };
  return preconditions !== undefined && isNotModified(preconditions, tag)
    ? { status: 304, headers }
    : { status: 200, text, headers };
}

/** Whether the client has what a read would show, by its tag. Throws `precondition_failed`. */
export function isNotModified(preconditions: Preconditions | undefined, tag: string): boolean {
  if (preconditions === undefined) return false;
  const result = evaluate(preconditions, tag);
  if (result === "if_match_fails") throw preconditionFailed(preconditions, result, tag);
  return result === "if_none_match_fails";
}

/** The response to a write, after which `text` is stored. */
export function writtenResponse(
  status: 200 | 201,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): HttpResponse {
  return { status, text, headers: { ...headers, ETag: entityTag(text) } };
}

/** Throws `precondition_failed` unless a write may replace `text`; undefined = nothing is there. */
export function requirePreconditions(preconditions: Preconditions | undefined, text: string | undefined): void {
  const failure = failedPrecondition(preconditions, text);
  if (failure) throw failure;
}

/** The refusal of a write that must not go on from `text`; undefined when it may. */
export function failedPrecondition(
  preconditions: Preconditions | undefined,
  text: string | undefined,
): Problem | undefined {
  if (preconditions === undefined) return undefined;
  const tag = text === undefined ? undefined : entityTag(text);
  const result = evaluate(preconditions, tag);
  return result === "holds" ? undefined : preconditionFailed(preconditions, result, tag);
}

/** A collection exists and has no tag, so most preconditions fail. Throws `precondition_failed`. */
export function requireCollectionPreconditions(preconditions: Preconditions | undefined): void {
  const result = preconditions && evaluate(preconditions, noTag);
  if (result === undefined || result === "holds") return;
  throw new Problem(
    "precondition_failed",
    "A new object has no ETag to compare; send If-Match and If-None-Match only in requests for one object",
  );
}

/** Without quotes: equal to no tag that can be sent. */
const noTag = "none";

function preconditionFailed(
  preconditions: Preconditions,
  result: Exclude<PreconditionResult, "holds">,
  tag: string | undefined,
): Problem {
  const headers = tag === undefined ? {} : { ETag: tag };
  const detail = result === "if_match_fails" ? ifMatchFailed(preconditions.ifMatch, tag) : ifNoneMatchFailed;
  return new Problem("precondition_failed", detail, { headers });
}

const ifNoneMatchFailed = "If-None-Match names the current ETag, or is * and a value exists";

function ifMatchFailed(tags: SentTags | undefined, tag: string | undefined): string {
  if (tag === undefined) return "If-Match needs an existing value, but there is none";
  const sent = tags === "any" || tags === undefined ? [] : tags;
  if (sent.length === 0) return "If-Match names no ETag; send the one that was read, or leave If-Match out";
  return sent.some(({ opaque }) => isAlteredForm(opaque, tag))
    ? `If-Match names the current ETag in another form, which a proxy that compresses may have made of it; send ${tag}`
    : "The value changed after the ETag in If-Match was read; read the value again (its current tag is in ETag) and repeat the change";
}

/** Proxies that compress write `W/` before a tag, or `-gzip` and the like at its end. */
function isAlteredForm(opaque: string, tag: string): boolean {
  return opaque.startsWith(tag.slice(0, -1));
}
