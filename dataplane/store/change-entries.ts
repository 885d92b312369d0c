// What an entry of a log of changes says, and the position that names it, the same in each adapter.

import { hash } from "node:crypto";
import type { Change, LogPosition } from "./ports/changes.ts";

/** As stored. `fields`: names and values alternate. */
export interface LogEntry {
  readonly id: string;
  readonly fields: readonly string[];
}

/** The two parts of a position's id, which order the entries, and its checksum. */
export interface ParsedPosition {
  readonly id: string;
  readonly checksum: string;
}

/** Bytes that an entry takes, as measured in Redis with UUIDs and short names of owners. */
export const loggedBytes = { object: 80, document: 24 } as const;

const shape = /^([0-9]{1,15}-[0-9]{1,15})\.([0-9a-f]{8})$/;

/** Undefined when no log ever had it. */
export function parsePosition(position: LogPosition): ParsedPosition | undefined {
  const [, id, checksum] = shape.exec(position) ?? [];
  return id === undefined || checksum === undefined ? undefined : { id, checksum };
}

/** Whether `position` was taken from this entry. */
export function isAt(position: ParsedPosition, entry: LogEntry | undefined): boolean {
  return entry !== undefined && position.id === entry.id && position.checksum === checksumOf(entry);
}

/** Whether the id comes before the other one. */
export function isOlder(id: string, other: string): boolean {
  const [at, otherAt] = [id.indexOf("-"), other.indexOf("-")];
  // Quickly where each part has as many digits, as milliseconds do for centuries.
  if (at === otherAt && id.length === other.length) return id < other;
  const difference = Number(id.slice(0, at)) - Number(other.slice(0, otherAt));
  return difference === 0 ? Number(id.slice(at + 1)) < Number(other.slice(otherAt + 1)) : difference < 0;
}

export function positionOf(entry: LogEntry): LogPosition {
  return `${entry.id}.${checksumOf(entry)}`;
}

export function changeOf(entry: LogEntry): Change {
  const fields = new Map<string, string>();
  for (let at = 0; at + 1 < entry.fields.length; at += 2)
    fields.set(entry.fields[at] ?? "", entry.fields[at + 1] ?? "");
  const kind = fields.get("kind");
  return {
    position: positionOf(entry),
    kind: kind === "put" || kind === "delete" ? kind : "none",
    id: fields.get("id") ?? "",
    owner: fields.get("owner") ?? "",
  };
}

/** Two entries of one id can differ: a failover may have lost the first one. */
function checksumOf({ id, fields }: LogEntry): string {
  return hash("sha1", [id, ...fields].join("\0")).slice(0, 8);
}
