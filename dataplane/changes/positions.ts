// Positions in a log of changes as clients see them: in the header Changes-Position, as event ids,
// in Last-Event-ID and `_position`. A position names an entry of the log, and may name a second
// one: objects are read after the log, so what a client was shown may have the effect of later
// entries. Its stream begins behind the first, and is reset where the log has lost the second.

import { Problem } from "../../core/errors/problem.ts";
import { isOlder, parsePosition } from "../store/change-entries.ts";
import type { LogPosition } from "../store/ports/changes.ts";

export interface ClientPosition {
  /** A stream begins behind it. */
  readonly start: LogPosition;
  /** The newest entry that the client may have seen the effect of. */
  readonly seen: LogPosition;
}

const betweenSources = ";";

/** One for each source, in the order in which they were asked for. */
export function positionsText(positions: readonly ClientPosition[]): string {
  return positions.map(({ start, seen }) => (start === seen ? start : `${start},${seen}`)).join(betweenSources);
}

/** Throws Problem `invalid_parameter`; `name` says where the text was sent. */
export function parsePositions(text: string, name: string): readonly ClientPosition[] {
  return text.split(betweenSources).map((each) => {
    const [start = "", seen = start, ...more] = each.split(",");
    if (parsePosition(start) && parsePosition(seen) && more.length === 0) return { start, seen };
    const detail = `${name} must be a position as Changes-Position or an event's id has it`;
    throw new Problem("invalid_parameter", detail);
  });
}

/** Of two positions of a log. */
export function laterOf(one: LogPosition, other: LogPosition): LogPosition {
  return isBefore(one, other) ? other : one;
}

/** Whether one position of a log comes before another one. */
export function isBefore(one: LogPosition, other: LogPosition): boolean {
  return one !== other && isOlder(idOf(one), idOf(other));
}

/** The position without its checksum. */
function idOf(position: LogPosition): string {
  return position.slice(0, position.indexOf("."));
}
