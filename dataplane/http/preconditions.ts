// Reads If-Match and If-None-Match (RFC 9110 §13) and judges them against the tag of what is there. Refuses what is no list of
// entity tags: a condition that was not understood must not be taken for one that holds.

import type { IncomingHttpHeaders } from "node:http";
import { Problem } from "../../core/errors/problem.ts";

interface SentTag {
  readonly isWeak: boolean;
  /** With its quotes. */
  readonly opaque: string;
}

/** `any` = `*`. */
type SentTags = "any" | readonly SentTag[];

export interface Preconditions {
  readonly ifMatch?: SentTags;
  readonly ifNoneMatch?: SentTags;
}

/** The first one that does not hold. */
export type Verdict = "holds" | "if_match_fails" | "if_none_match_fails";

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
export function judge({ ifMatch, ifNoneMatch }: Preconditions, tag: string | undefined): Verdict {
  if (ifMatch !== undefined && !includes(ifMatch, tag, "strong")) return "if_match_fails";
  if (ifNoneMatch !== undefined && includes(ifNoneMatch, tag, "weak")) return "if_none_match_fails";
  return "holds";
}

function includes(tags: SentTags, tag: string | undefined, comparison: "strong" | "weak"): boolean {
  if (tag === undefined) return false;
  if (tags === "any") return true;
  return tags.some(({ isWeak, opaque }) => opaque === tag && (comparison === "weak" || !isWeak));
}

/** One element of the list, which may be empty, and the comma behind it. */
const element = /[ \t]*(?:(W\/)?("[\x21\x23-\x7e\x80-\xff]*"))?[ \t]*(?:,|$)/y;

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
  if (tags.length === 0) throw malformed(name);
  return tags;
}

function malformed(name: string): Problem {
  return new Problem("invalid_header", `${name} is * or a list of entity tags, each in double quotes as ETag had it`);
}
