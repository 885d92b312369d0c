// How a read asks for changes: as a stream, by `Accept: text/event-stream`, or as JSON, by
// `_position` in its query. Refuses with 406, 400 and `invalid_parameter`.

import type { FastifyRequest } from "fastify";
import Negotiator from "negotiator";
import { Problem } from "../../core/errors/problem.ts";
import { percentDecoded } from "../../core/http/percent-decoded.ts";
import { type ClientPosition, parsePosition } from "./positions.ts";

export interface AskedChanges {
  readonly form: "stream" | "json";
  /** Absent = from now on. */
  readonly position?: ClientPosition;
  /** How long the JSON form may wait for a change. */
  readonly waitSeconds: number;
}

const eventStream = "text/event-stream";
const maxWaitSeconds = 30;
/** RFC 7240 §4.3. */
const waitPreference = /(?:^|,)\s*wait\s*=\s*(\d{1,6})\s*(?:[,;]|$)/i;
/** Parameters that say how a list is paged, which has no meaning here. */
const ofLists = /(?:^|&)(_(?:limit|offset|cursor|sort|count|etags))=/;

/** Undefined for an ordinary read. */
export function askedChangesOf({ method, headers }: FastifyRequest, rawUrl: string): AskedChanges | undefined {
  const { accept = "" } = headers;
  const mayBeStream = accept.includes(eventStream);
  if (method !== "GET" || !(mayBeStream || rawUrl.includes("_position"))) return undefined;
  const query = queryOf(rawUrl);
  const sent = positionParameter(query);
  const isStream = mayBeStream && prefersStream(accept);
  if (!isStream && sent === undefined) return undefined;
  requireNoListParameter(query);
  const lastEventId = isStream ? headers["last-event-id"] : undefined;
  const position = positionOf(lastEventId, sent);
  return { form: isStream ? "stream" : "json", waitSeconds: waitOf(headers.prefer), ...(position && { position }) };
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

/** The query without `_position`: readers with the same one see the same. */
export function viewQueryOf(rawUrl: string): string {
  return queryOf(rawUrl)
    .split("&")
    .filter((piece) => !piece.startsWith("_position="))
    .join("&");
}

function queryOf(rawUrl: string): string {
  const at = rawUrl.indexOf("?");
  return at < 0 ? "" : rawUrl.slice(at + 1);
}

function prefersStream(accept: string): boolean {
  const [first] = new Negotiator({ headers: { accept } }).mediaTypes([eventStream, "application/json"]);
  return first === eventStream;
}

function positionParameter(query: string): string | undefined {
  const piece = query.split("&").find((each) => each === "_position" || each.startsWith("_position="));
  return piece === undefined ? undefined : (percentDecoded(piece.slice("_position=".length)) ?? "?");
}

/** What EventSource sends by itself after a break is newer than what the URL says. */
function positionOf(
  lastEventId: string | readonly string[] | undefined,
  sent: string | undefined,
): ClientPosition | undefined {
  if (lastEventId?.length) return parsePosition(String(lastEventId), "Last-Event-ID");
  return sent ? parsePosition(sent, "`_position`") : undefined;
}
