// What a request names, as raw text: its target, split before it is decoded, so that `%2F` and `..`
// stay characters of a segment; its host; and the key by which its plan is cached. Refuses bad
// paths with 400 and 414.

import type { FastifyRequest } from "fastify";
import { Problem } from "../../core/errors/problem.ts";
import { percentDecoded } from "../../core/http/percent-decoded.ts";
import type { Directory } from "../config/directory.ts";

export const maxPathBytes = 8 * 1024;
export const maxSegmentBytes = 1024;
/** Twice as many as lead through the deepest value (store/ports/documents.ts). */
export const maxSegments = 128;

interface SplitTarget {
  /** Decoded segments, without one trailing slash. Segments with a `fault` are not decoded. */
  readonly segments: readonly string[];
  /** The text after `?`, still encoded; or empty. */
  readonly query: string;
  /** Why the path is refused. It is thrown once the project is known, which is charged. */
  readonly fault: Problem | undefined;
}

/** `target` is the request line's: origin form, or absolute form as proxies send it. */
export function splitTarget(target: string): SplitTarget {
  const origin = target.charCodeAt(0) === 47 ? target : originForm(target);
  const queryStart = origin.indexOf("?");
  const path = queryStart < 0 ? origin : origin.slice(0, queryStart);
  const query = queryStart < 0 ? "" : origin.slice(queryStart + 1);
  if (path.length > maxPathBytes) {
    const fault = new Problem("path_too_long", `A path may have at most ${maxPathBytes} bytes`);
    return { segments: rawSegments(path.slice(1)), query, fault };
  }
  return { ...decodedPath(path.slice(1)), query };
}

/** `path` is without the slash that it begins with. */
function decodedPath(path: string): Pick<SplitTarget, "segments" | "fault"> {
  const raw = rawSegments(path);
  if (raw.length <= maxSegments) return decodeSegments(raw, path.includes("%"));
  return { segments: raw, fault: new Problem("path_too_long", `A path may have at most ${maxSegments} segments`) };
}

/** One more than allowed, and one for a trailing slash. */
function rawSegments(path: string): readonly string[] {
  const raw = path.split("/", maxSegments + 2);
  if (raw.at(-1) === "") raw.pop();
  return raw;
}

function originForm(target: string): string {
  const match = /^https?:\/\/[^/?#]+(\/[^#]*)?$/i.exec(target);
  if (!match)
    throw new Problem(
      "invalid_request",
      "The request target must be a path that starts with a slash, or an absolute URL",
    );
  return match[1] ?? "/";
}

function decodeSegments(raw: readonly string[], encoded: boolean): Pick<SplitTarget, "segments" | "fault"> {
  let fault: Problem | undefined;
  const segments: string[] = [];
  for (const segment of raw) {
    const decoded = encoded ? percentDecoded(segment) : segment;
    fault ??= faultOf(decoded);
    segments.push(decoded ?? segment);
  }
  return { segments, fault };
}

function faultOf(decoded: string | undefined): Problem | undefined {
  if (decoded === undefined) {
    return new Problem("invalid_path", "A path segment is not percent-encoded UTF-8; write `%25` for a percent sign");
  }
  if (decoded === "") {
    return new Problem(
      "invalid_path",
      "The path has an empty segment; write one slash between segments. To reach an empty key, read or write the object that contains it",
    );
  }
  if (decoded.includes("\0"))
    return new Problem(
      "invalid_path",
      "A path segment can't contain NUL; to reach a key that does, read or write the object that contains it",
    );
  if (decoded.length > maxSegmentBytes / 4 && Buffer.byteLength(decoded) > maxSegmentBytes) {
    return new Problem("path_too_long", `A path segment may have at most ${maxSegmentBytes} bytes`);
  }
  return undefined;
}

/** Lower case, without port and final dot; empty when there is none. */
export function hostName(host: string): string {
  const colon = host.lastIndexOf(":");
  const name = colon > host.lastIndexOf("]") ? host.slice(0, colon) : host;
  return (name.endsWith(".") ? name.slice(0, -1) : name).toLowerCase();
}

/** What the plan of a request for stored data depends on. */
export interface RequestShape {
  /** Requests with the same key have the same plan while configuration and credential are valid. */
  readonly key: string;
  /** Characters of the target; the key has no id. */
  readonly targetLength: number;
  /** Characters of the query with its question mark, which end the key. */
  readonly queryLength: number;
  /** Segments of the path that name the project. */
  readonly baseSegments: number;
  /** Decoded segments below the resource or root key: an object's id, or where a value stands. */
  readonly subPath: readonly string[];
}

/** Characters of target, host and credential: longer ones are rare, and would evict others. */
const maxShapeLength = 4_096;

/**
 * Undefined unless the path is `/api/<resource>…` or `/json/<root key>…` below the project's base,
 * is valid, and the request names a host: all others are not cached. `publicPath` = decoded
 * segments of the public address.
 */
export function requestShape(
  directory: Pick<Directory, "hostOwner">,
  publicPath: readonly string[],
  request: FastifyRequest,
  target: string,
): RequestShape | undefined {
  const { host, headers } = request;
  const { authorization } = headers;
  if (host === "" || target.length + host.length + (authorization?.length ?? 0) > maxShapeLength) return undefined;
  const holder = directory.hostOwner(hostName(host));
  const queryStart = target.indexOf("?");
  const path = queryStart < 0 ? target : target.slice(0, queryStart);
  const baseSegments = holder === undefined ? 2 + lengthOfPublicPath(publicPath, path) : 0;
  const split = splitSubPath(path, baseSegments);
  if (split === undefined) return undefined;
  const { resourcePath, subPath } = split;
  // Line feeds separate the parts, which contain none. A slash ends the resource's path only if
  // there is a sub-path. With the holder, because claims of a host change. `=` distinguishes an
  // empty Authorization header from none.
  const origin = `${headers["x-forwarded-proto"] ?? ""}://${host}\n${holder ?? ""}`;
  const credential = authorization === undefined ? "" : `=${authorization}`;
  const query = queryStart < 0 ? "" : target.slice(queryStart);
  const key = `${request.method}\n${origin}\n${credential}\n${resourcePath}${subPath.length > 0 ? "/" : ""}${query}`;
  return { key, targetLength: target.length, queryLength: query.length, baseSegments, subPath };
}

function lengthOfPublicPath(publicPath: readonly string[], path: string): number {
  return publicPath.length > 0 && path.startsWith(`/${publicPath.join("/")}/`) ? publicPath.length : 0;
}

/** A path with `/api/<resource>` or `/json/<root key>` after its base, split there. */
function splitSubPath(
  path: string,
  baseSegments: number,
): { readonly resourcePath: string; readonly subPath: readonly string[] } | undefined {
  if (path.charCodeAt(0) !== 47) return undefined;
  let at = 0;
  for (let passed = 0; passed < baseSegments; passed += 1) {
    at = path.indexOf("/", at + 1);
    if (at < 0) return undefined;
  }
  const isApi = path.startsWith("/api/", at);
  if (!isApi && !path.startsWith("/json/", at)) return undefined;
  const end = path.indexOf("/", at + (isApi ? 5 : 6));
  if (end < 0) return { resourcePath: path, subPath: [] };
  const { segments, fault } = decodedPath(path.slice(end + 1));
  if (fault !== undefined || (isApi && segments.length > 1)) return undefined;
  return { resourcePath: path.slice(0, end), subPath: segments };
}
