// Pieces of a watch's answer → its events, in order. Refuses a line that is too long, cut short, or no event; what a line says
// is never quoted, for it may be a Secret.

import { failure, objectToKeep, parsed } from "./answers.ts";
import { ApiUnreachable, type KubeObject, type ResourceType, type WatchEvent } from "./api.ts";

/** A Secret of a mebibyte in base64 with metadata, several times over. */
const maxLineLength = 8 * 1024 * 1024;
const newline = 0x0a;

/** Whole lines as text. Pieces are joined before they are decoded: a character may lie across two of them. */
export async function* linesOf(pieces: AsyncIterable<Uint8Array>, maxLength = maxLineLength): AsyncIterable<string> {
  let parts: Uint8Array[] = [];
  let size = 0;
  for await (const piece of pieces) {
    let from = 0;
    for (let at = piece.indexOf(newline); at >= 0; at = piece.indexOf(newline, from)) {
      yield Buffer.concat([...parts, piece.subarray(from, at)]).toString("utf8");
      parts = [];
      size = 0;
      from = at + 1;
    }
    if (from < piece.length) parts.push(piece.subarray(from));
    size += piece.length - from;
    if (size > maxLength) throw new ApiUnreachable("watch: a line is longer than any object can be");
  }
  if (size > 0) throw new ApiUnreachable("watch: the stream ended within a line");
}

export async function* eventsOf(lines: AsyncIterable<string>, type: ResourceType): AsyncIterable<WatchEvent> {
  for await (const line of lines) {
    if (line !== "") yield eventOf(line, type);
  }
}

function eventOf(line: string, type: ResourceType): WatchEvent {
  const event = parsed(line, `watch ${type.plural}`) as { readonly type?: unknown; readonly object?: unknown };
  switch (event.type) {
    case "ADDED":
    case "MODIFIED":
    case "DELETED":
      return { type: event.type, object: objectToKeep(event.object as KubeObject) };
    case "BOOKMARK":
      return { type: "BOOKMARK", resourceVersion: (event.object as KubeObject).metadata.resourceVersion };
    case "ERROR":
      throw failure({ type, body: event.object });
    default:
      throw new ApiUnreachable(`watch ${type.plural}: an event of no known type`);
  }
}
