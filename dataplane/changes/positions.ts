// Positions in a log of changes as clients see them: in the header Changes-Position, as event ids, in
// Last-Event-ID and `_position`. A position is an entry of the log. A list has two: its reading took
// several steps, so a stream begins behind the first, and the second must still be in the log.

import { Problem } from "../../core/errors/problem.ts";
import type { LogPosition } from "../store/ports/changes.ts";

export interface ClientPosition {
  /** A stream begins behind it. */
  readonly start: LogPosition;
  /** The newest entry that the client may have seen the effect of. */
  readonly seen: LogPosition;
}

const pattern = /^(\d{1,20}(?:-\d{1,20})?\.[0-9a-f]{8})(?:,(\d{1,20}(?:-\d{1,20})?\.[0-9a-f]{8}))?$/;

export function positionText({ start, seen }: ClientPosition): string {
  return start === seen ? start : `${start},${seen}`;
}

/** Throws Problem `invalid_parameter`; `name` says where the text was sent. */
export function parsePosition(text: string, name: string): ClientPosition {
  const [, start, seen = start] = pattern.exec(text) ?? [];
  if (start === undefined || seen === undefined) {
    throw new Problem("invalid_parameter", `${name} must be a position as Changes-Position or an event's id has it`);
  }
  return { start, seen };
}

/** Whether one position of a log comes before another one. */
export function isBefore(one: LogPosition, other: LogPosition): boolean {
  const [milliseconds, sequence] = numbersOf(one);
  const [otherMilliseconds, otherSequence] = numbersOf(other);
  return milliseconds < otherMilliseconds || (milliseconds === otherMilliseconds && sequence < otherSequence);
}

function numbersOf(position: LogPosition): readonly [number, number] {
  const [milliseconds = "", sequence = "0"] = position.slice(0, position.indexOf(".")).split("-");
  return [Number(milliseconds), Number(sequence)];
}
