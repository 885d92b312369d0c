// Keeps the position of each value of a document in its file, so that a problem with a JSON Pointer
// can be shown with line and column.
import type { LineCounter } from "yaml";

export interface Position {
  /** Both count from 1. */
  readonly line: number;
  readonly column: number;
}

interface Location {
  /** Offset of the member's name; absent for list items and for the document itself. */
  readonly key?: number;
  readonly value: number;
  /** The text of a scalar as it stands in the file; absent for containers and quoted texts. */
  readonly plain?: string;
  readonly container: boolean;
}

export class Positions {
  readonly #locations = new Map<string, Location>();
  readonly #lines: LineCounter;
  readonly #start: number;

  /** Offsets count from `start`, where the text that is read begins in its file. */
  constructor(lines: LineCounter, start: number) {
    this.#lines = lines;
    this.#start = start;
  }

  add(pointer: string, location: Location): void {
    this.#locations.set(pointer, location);
  }

  at(offset: number): Position {
    const { line, col } = this.#lines.linePos(this.#start + offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  }

  /** The position of the value, or of a container's name; else of the nearest parent. */
  of(pointer: string): Position {
    const location = this.#nearest(pointer);
    const found = this.#locations.get(pointer);
    const offset = found !== undefined && !found.container ? found.value : (location.key ?? location.value);
    return this.at(offset);
  }

  ofKey(pointer: string): Position {
    const location = this.#nearest(pointer);
    return this.at(location.key ?? location.value);
  }

  /** The unquoted text of the scalar at `pointer`. */
  plainText(pointer: string): string | undefined {
    return this.#locations.get(pointer)?.plain;
  }

  #nearest(pointer: string): Location {
    const location = this.#locations.get(pointer);
    if (location !== undefined) return location;
    const end = pointer.lastIndexOf("/");
    return end < 0 ? { value: 0, container: true } : this.#nearest(pointer.slice(0, end));
  }
}
