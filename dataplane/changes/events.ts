// The events of a stream of changes, and their texts as server-sent events (WHATWG HTML §9.2) and
// as JSON. docs/reference/changes.md describes them.

import type { LogPosition } from "../store/ports/changes.ts";

/** Why the client has to list again. */
export type ResetReason =
  /** Its position is older than the log. */
  | "expired"
  /** The store lost what came before its position, or the log. */
  | "lost"
  /** The caller may no longer read this, or not the same part of it. */
  | "access"
  /** There is no such resource or root key any more. */
  | "deleted";

export interface ChangeEvent {
  readonly name: "put" | "delete";
  /** In the log of its source. */
  readonly position: LogPosition;
  /** JSON text. */
  readonly data: string;
}

const retryMs = { min: 1_000, max: 5_000 };
/** Data of so many characters are encoded once for all streams. */
export const largeData = 16 * 1024;
const encoded = new WeakMap<ChangeEvent, Buffer>();

/**
 * The texts of events, in pieces to be written one after the other. `idOf` = positions of all
 * sources.
 */
export function eventPieces(
  events: readonly ChangeEvent[],
  idOf: (event: ChangeEvent) => string,
): readonly (string | Buffer)[] {
  const pieces: (string | Buffer)[] = [];
  let text = "";
  for (const event of events) {
    text += `event: ${event.name}\nid: ${idOf(event)}\ndata: `;
    if (event.data.length < largeData) text += event.data;
    else {
      pieces.push(text, encodedData(event));
      text = "";
    }
    text += "\n\n";
  }
  return text === "" ? pieces : [...pieces, text];
}

function encodedData(event: ChangeEvent): Buffer {
  const known = encoded.get(event);
  if (known !== undefined) return known;
  const bytes = Buffer.from(event.data);
  encoded.set(event, bytes);
  return bytes;
}

/** Has only a position, so that that of a quiet stream doesn't get too old. */
export function bookmarkText(id: string): string {
  return `event: bookmark\nid: ${id}\ndata: {}\n\n`;
}

/** The empty id makes EventSource forget its position. */
export function resetText(reason: ResetReason): string {
  return `event: reset\nid:\ndata: {"reason":"${reason}"}\n\n`;
}

/** The credential expires soon, and the stream ends with it. */
export const reauthenticateText = "event: reauthenticate\ndata: {}\n\n";

/** When EventSource is to connect again: not all clients of a replica that stops at once. */
export function retryText(random: () => number): string {
  return `retry: ${Math.round(retryMs.min + random() * (retryMs.max - retryMs.min))}\n\n`;
}

/** An event in the JSON form. */
export function eventJson({ name, data }: ChangeEvent): string {
  return `{"event":"${name}","data":${data}}`;
}
