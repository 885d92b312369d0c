// An object of a canonical JSON text whose members are added, removed and changed: what no change names stays the very text that it was.

import { memberCost, type PatchWork } from "./patch-refusal.ts";
import { type Slot, type Taken, textOf } from "./slot.ts";
import { endOfString, endOfValue, memberAt } from "./walk.ts";

/** A member of the text that was asked for; without a slot once it is removed. */
interface Found {
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
  slot: Slot | undefined;
}

export class TakenObject implements Taken {
  readonly #text: string;
  readonly #work: PatchWork;
  readonly #found = new Map<string, Found>();
  readonly #added = new Map<string, Slot>();
  /** Where members start, by their names as they are written: of those before `#next`. */
  readonly #starts = new Map<string, number>();
  #next = 1;
  #wasSearched = false;

  /** `text` is an object's. */
  constructor(text: string, work: PatchWork) {
    this.#text = text;
    this.#work = work;
  }

  get(name: string): Slot | undefined {
    return this.#added.get(name) ?? this.#find(name)?.slot;
  }

  /** In the place of the member of this name, or behind all others. */
  set(name: string, slot: Slot): void {
    const found = this.#added.has(name) ? undefined : this.#find(name);
    if (found?.slot === undefined) this.#added.set(name, slot);
    else found.slot = slot;
  }

  delete(name: string): void {
    if (this.#added.delete(name)) return;
    const found = this.#find(name);
    if (found !== undefined) found.slot = undefined;
  }

  text(): string {
    const parts: string[] = [];
    let from = 1;
    for (const { start, valueStart, end, slot } of [...this.#found.values()].sort((a, b) => a.start - b.start)) {
      if (start > from) parts.push(this.#text.slice(from, start - 1));
      if (slot !== undefined) parts.push(this.#text.slice(start, valueStart) + textOf(slot));
      from = end + 1;
    }
    if (from < this.#text.length - 1) parts.push(this.#text.slice(from, -1));
    for (const [name, slot] of this.#added) parts.push(`${JSON.stringify(name)}:${textOf(slot)}`);
    return `{${parts.join(",")}}`;
  }

  #find(name: string): Found | undefined {
    const before = this.#found.get(name);
    if (before !== undefined) return before;
    const nameText = JSON.stringify(name);
    const start = this.#startOf(nameText);
    if (start === undefined) return undefined;
    const valueStart = start + nameText.length + 1;
    const end = endOfValue(this.#text, valueStart);
    this.#work.spend(end - start);
    const found = { start, valueStart, end, slot: { value: this.#text.slice(valueStart, end) } };
    this.#found.set(name, found);
    return found;
  }

  #startOf(nameText: string): number | undefined {
    // Most patches ask for one name, and to keep where all are costs eight times what looking for one does.
    if (this.#wasSearched) return this.#starts.get(nameText) ?? this.#startAhead(nameText);
    this.#wasSearched = true;
    const start = memberAt(this.#text, 0, nameText)?.nameStart;
    this.#work.spend(start ?? this.#text.length);
    return start;
  }

  /** Goes on from the last member whose place is kept. */
  #startAhead(nameText: string): number | undefined {
    while (this.#next < this.#text.length - 1) {
      const start = this.#next;
      const nameEnd = endOfString(this.#text, start);
      this.#next = endOfValue(this.#text, nameEnd + 1) + 1;
      this.#work.spend(this.#next - start + memberCost);
      const name = this.#text.slice(start, nameEnd);
      this.#starts.set(name, start);
      if (name === nameText) return start;
    }
    return undefined;
  }
}
