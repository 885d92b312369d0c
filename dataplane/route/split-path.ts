// Splits the raw request target, before any decoding, into path segments and query text: `%2F` and `..` stay characters of
// a segment. Refuses bad encoding, NUL, empty inner segments and overlong paths.

import { Problem } from "../../core/errors/problem.ts";
import { percentDecoded } from "../../core/http/percent-decoded.ts";

export const maxPathBytes = 8 * 1024;
export const maxSegmentBytes = 1024;

export interface SplitTarget {
  /** Decoded segments, one trailing slash ignored; those that `fault` is about stand as they were sent. */
  readonly segments: readonly string[];
  /** Text after `?`, or empty. */
  readonly query: string;
  /** Why the path is refused, once it is known whose request it is: refused requests are counted for their project. */
  readonly fault: Problem | undefined;
}

/** `target` is the request line's: origin form, or absolute form as proxies send it. */
export function splitTarget(target: string): SplitTarget {
  const origin = target.charCodeAt(0) === 47 ? target : originForm(target);
  const mark = origin.indexOf("?");
  const path = mark < 0 ? origin : origin.slice(0, mark);
  const query = mark < 0 ? "" : origin.slice(mark + 1);
  const raw = path.split("/");
  raw.shift();
  if (raw.at(-1) === "") raw.pop();
  if (path.length > maxPathBytes) {
    return { segments: raw, query, fault: new Problem("path_too_long", `A path has at most ${maxPathBytes} bytes`) };
  }
  return { ...decodeSegments(raw, path.includes("%")), query };
}

function originForm(target: string): string {
  const match = /^https?:\/\/[^/?#]+(\/[^#]*)?$/i.exec(target);
  if (!match)
    throw new Problem(
      "invalid_request",
      "The request target must start with a slash, or name a host and then start with one",
    );
  return match[1] ?? "/";
}

function decodeSegments(raw: readonly string[], encoded: boolean): Pick<SplitTarget, "segments" | "fault"> {
  let fault: Problem | undefined;
  const segments = raw.map((segment) => {
    const decoded = encoded ? percentDecoded(segment) : segment;
    fault ??= faultOf(decoded);
    return decoded ?? segment;
  });
  return { segments, fault };
}

function faultOf(decoded: string | undefined): Problem | undefined {
  if (decoded === undefined) {
    return new Problem("invalid_path", "A path segment is not percent-encoded UTF-8; write `%25` for a percent sign");
  }
  if (decoded === "") {
    return new Problem("invalid_path", "The path has an empty segment; write one slash between segments");
  }
  if (decoded.includes("\0")) return new Problem("invalid_path", "A path segment can't contain NUL");
  if (decoded.length > maxSegmentBytes / 4 && Buffer.byteLength(decoded) > maxSegmentBytes) {
    return new Problem("path_too_long", `A path segment has at most ${maxSegmentBytes} bytes`);
  }
  return undefined;
}
