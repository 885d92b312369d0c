// Remembers where in a file each value of a document stands, so that a problem found by JSON Pointer can be shown with its
// line and column.
import type { LineCounter } from "yaml";

export interface Position {
  /** Both count from 1. */
  readonly line: number;
  readonly column: number;
}

interface Place {
  /** Offset of the member's name; absent for list items and for the document itself. */
  readonly key?: number;
  readonly value: number;
  /** The text of a scalar as it stands in the file; absent for containers and quoted texts. */
  readonly plain?: string;
  readonly container: boolean;
}

export class Positions {
  readonly #places = new Map<string, Place>();
  readonly #lines: LineCounter;

  constructor(lines: LineCounter) {
    this.#lines = lines;
  }

  add(pointer: string, place: Place): void {
    this.#places.set(pointer, place);
  }

  at(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  }

  /** Of the value, or of its name where it is a container; of the nearest parent where there is nothing at `pointer`. */
  of(pointer: string): Position {
    const place = this.#nearest(pointer);
    const found = this.#places.get(pointer);
    const offset = found !== undefined && !found.container ? found.value : (place.key ?? place.value);
    return this.at(offset);
  }

  ofKey(pointer: string): Position {
    const place = this.#nearest(pointer);
    return this.at(place.key ?? place.value);
  }

  /** The unquoted text of the scalar at `pointer`. */
  plainText(pointer: string): string | undefined {
    return this.#places.get(pointer)?.plain;
  }

  #nearest(pointer: string): Place {
    const place = this.#places.get(pointer);
    if (place !== undefined) return place;
    const end = pointer.lastIndexOf("/");
    return end < 0 ? { value: 0, container: true } : this.#nearest(pointer.slice(0, end));
  }
}
