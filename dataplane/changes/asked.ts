// How a read asks for changes: as a stream, by `Accept: text/event-stream`, or as JSON, by
// `_position` in its query. Refuses with 406, 400 and `invalid_parameter`.

import type { FastifyRequest } from "fastify";
import Negotiator from "negotiator";
import { Problem } from "../../core/errors/problem.ts";
import { percentDecoded } from "../../core/http/percent-decoded.ts";
import { type ClientPosition, parsePositions } from "./positions.ts";

export interface AskedChanges {
  readonly form: "stream" | "json";
  /** One for each source; absent = from now on. */
  readonly positions?: readonly ClientPosition[];
  /** How long the JSON form may wait for a change. */
  readonly waitSeconds: number;
}

const eventStream = "text/event-stream";
/** Media types are compared without case (RFC 9110 §8.3.1). */
const mentionsStream = /text\/event-stream/i;
const mentionsPosition = /(?:_|%5f)position/i;
const maxWaitSeconds = 30;
/** RFC 7240 §4.3. */
const waitPreference = /(?:^|,)\s*wait\s*=\s*(\d{1,6})\s*(?:[,;]|$)/i;
/** Parameters for the pages of a list. Changes have none. */
const ofLists = /(?:^|&)(_(?:limit|offset|cursor|sort|count|count_by|etags))=/;

/** Undefined for an ordinary read. */
export function askedChangesOf({ method, headers }: FastifyRequest, rawUrl: string): AskedChanges | undefined {
  const { accept = "" } = headers;
  const mayBeStream = mentionsStream.test(accept);
  if (method !== "GET" || !(mayBeStream || mentionsPosition.test(rawUrl))) return undefined;
  const query = queryOf(rawUrl);
  const sent = positionParameter(query);
  const isStream = mayBeStream && prefersStream(accept);
  if (!isStream && sent === undefined) return undefined;
  requireNoListParameter(query);
  const lastEventId = isStream ? headers["last-event-id"] : undefined;
  const positions = positionsOf(lastEventId, sent);
  return { form: isStream ? "stream" : "json", waitSeconds: waitOf(headers.prefer), ...(positions && { positions }) };
}

function requireNoListParameter(query: string): void {
  const name = ofLists.exec(query)?.[1];
  if (name === undefined) return;
  const detail = `\`${name}\` is for lists; changes take filters, \`_fields\` and \`_position\``;
  throw new Problem("invalid_parameter", detail);
}

function waitOf(prefer: string | readonly string[] | undefined): number {
  return Math.min(Number(waitPreference.exec(String(prefer ?? ""))?.[1] ?? 0), maxWaitSeconds);
}

/** Several share a connection, because browsers allow six to an origin. */
const maxSources = 20;

/** What `<base>/changes` asks for. Without `_position` that is the JSON form, from now on. */
export function askedOfMany(
  request: FastifyRequest,
  rawUrl: string,
): { readonly asked: AskedChanges; readonly sources: readonly string[] } {
  const query = queryOf(rawUrl);
  const watched = query.split("&").filter((piece) => piece.startsWith("_watch="));
  const sources = watched.map((piece) => percentDecoded(piece.slice("_watch=".length)) ?? "");
  if (sources.length === 0 || sources.length > maxSources || !sources.every((source) => sourcePattern.test(source))) {
    throw new Problem(
      "invalid_parameter",
      `Send 1 to ${maxSources} \`_watch\`, each an address below the project, percent-encoded: \`_watch=api%2Fbooks%3Fstatus%3Dopen\``,
    );
  }
  for (const source of sources) requireNoListParameter(queryOf(source));
  const asked = askedChangesOf(request, rawUrl) ?? {
    form: "json" as const,
    waitSeconds: waitOf(request.headers.prefer),
  };
  return { asked, sources };
}

/** A source has no `_position` of its own: that of the request has a part for each. */
const sourcePattern = /^(?:api|json)\/(?!.*[?&](?:_|%5f)position)/i;

/** The query without `_position`: readers with the same one see the same. */
export function viewQueryOf(rawUrl: string): string {
  return queryOf(rawUrl)
    .split("&")
    .filter((piece) => !piece.startsWith("_position="))
    .join("&");
}

/** With `_` where a name begins with `%5F`. */
function queryOf(rawUrl: string): string {
  const at = rawUrl.indexOf("?");
  return at < 0 ? "" : rawUrl.slice(at + 1).replace(/(^|&)%5f/gi, "$1_");
}

function prefersStream(accept: string): boolean {
  const [first] = new Negotiator({ headers: { accept } }).mediaTypes([eventStream, "application/json", "text/csv"]);
  return first === eventStream;
}

function positionParameter(query: string): string | undefined {
  const piece = query.split("&").find((each) => each === "_position" || each.startsWith("_position="));
  return piece === undefined ? undefined : (percentDecoded(piece.slice("_position=".length)) ?? "?");
}

/** EventSource repeats the URL after a break, and sends the newer position in Last-Event-ID. */
function positionsOf(
  lastEventId: string | readonly string[] | undefined,
  sent: string | undefined,
): readonly ClientPosition[] | undefined {
  if (lastEventId?.length) return parsePositions(String(lastEventId), "Last-Event-ID");
  return sent ? parsePositions(sent, "`_position`") : undefined;
}
