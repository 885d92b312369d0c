// The position of an export: one of each log of changes, with the name of what it is the log of:
// `api/books=<position>;json/settings=<position>`. Refuses with `invalid_parameter`.

import { Problem } from "../../core/errors/problem.ts";
import { percentDecoded } from "../../core/http/percent-decoded.ts";
import { type ClientPosition, parsePositions, positionsText } from "../changes/positions.ts";

/** By the name of a source, such as `api/books`. */
export type ExportPositions = ReadonlyMap<string, ClientPosition>;

export function exportPositionText(positions: ExportPositions): string {
  const texts = Array.from(positions, ([name, position]) => `${encodeURI(name)}=${positionsText([position])}`);
  return texts.join(";");
}

/** `parameter` is where the text was sent. */
export function parseExportPosition(text: string, parameter: string): ExportPositions {
  const positions = new Map<string, ClientPosition>();
  for (const piece of text.split(";")) {
    const [encoded = "", position] = piece.split("=", 2);
    const name = percentDecoded(encoded);
    if (name === undefined || position === undefined || !/^(?:api|json)\/./.test(name)) {
      throw new Problem("invalid_parameter", `${parameter} must be a position as the lines of an export have it`);
    }
    const [parsed] = parsePositions(position, parameter);
    if (parsed !== undefined) positions.set(name, parsed);
  }
  return positions;
}
