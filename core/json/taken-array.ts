// An array of a canonical JSON text whose elements are inserted, removed and changed: cut only where a change goes, for a piece per
// element would cost a hundred nanoseconds each, and a mebibyte may hold half a million.

import type { PatchWork } from "./patch-refusal.ts";
import { type Slot, type Taken, textOf } from "./slot.ts";
import { endOfValue } from "./walk.ts";

/** Elements side by side that nothing has changed, with the commas between them. */
interface Run {
  readonly text: string;
  readonly count: number;
}

type Piece = Run | Slot;

/** Characters after which a run ends: to find an element one is walked through, and every one before it is stepped over. */
const runLength = 2_048;

export class TakenArray implements Taken {
  readonly #work: PatchWork;
  readonly #pieces: Piece[];
  #length: number;

  /** `text` is an array's. */
  constructor(text: string, work: PatchWork) {
    work.spend(text.length);
    this.#work = work;
    this.#pieces = runsOf(text);
    this.#length = this.#pieces.reduce((sum, piece) => sum + countOf(piece), 0);
  }

  get length(): number {
    return this.#length;
  }

  at(index: number): Slot | undefined {
    if (index >= this.#length) return undefined;
    const place = this.#alone(index);
    const piece = this.#pieces[place];
    if (piece === undefined || !("count" in piece)) return piece;
    const slot = { value: piece.text };
    this.#pieces[place] = slot;
    return slot;
  }

  /** `index` is the array's length at most. */
  insert(index: number, slot: Slot): void {
    this.#pieces.splice(this.#cut(index), 0, slot);
    this.#length += 1;
  }

  /** `index` is below the array's length. */
  remove(index: number): void {
    this.#pieces.splice(this.#alone(index), 1);
    this.#length -= 1;
  }

  text(): string {
    return `[${this.#pieces.map((piece) => ("count" in piece ? piece.text : textOf(piece))).join(",")}]`;
  }

  /** Makes the element at `index` a piece of its own, and tells which. */
  #alone(index: number): number {
    const place = this.#cut(index);
    this.#cut(index + 1);
    return place;
  }

  /** Makes a piece begin with the element at `index`, and tells which. */
  #cut(index: number): number {
    let before = index;
    let place = 0;
    for (const piece of this.#pieces) {
      const count = countOf(piece);
      if (before < count) {
        if (before > 0 && "count" in piece) this.#cutRun(place, piece, before);
        break;
      }
      before -= count;
      place += 1;
    }
    this.#work.spend(place);
    return before > 0 ? place + 1 : place;
  }

  #cutRun(place: number, { text, count }: Run, before: number): void {
    let start = 0;
    for (let passed = 0; passed < before; passed += 1) start = endOfValue(text, start) + 1;
    this.#work.spend(start);
    const first = { text: text.slice(0, start - 1), count: before };
    this.#pieces.splice(place, 1, first, { text: text.slice(start), count: count - before });
  }
}

function countOf(piece: Piece): number {
  return "count" in piece ? piece.count : 1;
}

function runsOf(text: string): Piece[] {
  const runs: Piece[] = [];
  if (text === "[]") return runs;
  const last = text.length - 1;
  for (let start = 1; start < last; ) {
    let end = start - 1;
    let count = 0;
    do {
      end = endOfValue(text, end + 1);
      count += 1;
    } while (end < last && end - start < runLength);
    runs.push({ text: text.slice(start, end), count });
    start = end + 1;
  }
  return runs;
}
