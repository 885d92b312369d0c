// A canonical JSON text that is changed in many places. Containers are opened only where a change
// is; everything else stays the same text, so that numbers and order stay. The cost of that is
// counted.

import { memberCost, type PatchWork } from "./patch-refusal.ts";
import { endOfString, endOfValue, memberAt } from "./walk.ts";

/** A value that may be replaced: a canonical text as long as nothing inside was changed. */
export interface EditableValue {
  content: string | EditableArray | EditableObject;
}

/** The canonical text of what the value is now. */
export function textOf({ content }: EditableValue): string {
  return typeof content === "string" ? content : content.text();
}

/** The container that the value is, ready for changes; undefined for a scalar. */
export function openedContainer(value: EditableValue, work: PatchWork): EditableArray | EditableObject | undefined {
  const { content } = value;
  if (typeof content !== "string") return content;
  const opened = containerOf(content, work);
  if (opened !== undefined) value.content = opened;
  return opened;
}

function containerOf(text: string, work: PatchWork): EditableArray | EditableObject | undefined {
  if (text.startsWith("{")) return new EditableObject(text, work);
  return text.startsWith("[") ? new EditableArray(text, work) : undefined;
}

/** Characters after which a chunk ends: to find an element, every chunk before it is skipped. */
const chunkLength = 512;
/** What making a value of an element costs, in characters. */
const valueCost = 8;

/** Elements side by side, with their commas: one text until one of them is asked for. */
interface Chunk {
  count: number;
  content: string | EditableValue[];
}

/**
 * An array whose elements are inserted, removed and changed. A value for each element would cost a
 * hundred nanoseconds, and a mebibyte may have half a million of them: only chunks in which
 * something changes are split.
 */
export class EditableArray {
  readonly #work: PatchWork;
  readonly #chunks: Chunk[];
  #length: number;

  /** `text` is an array's. */
  constructor(text: string, work: PatchWork) {
    work.spend(text.length);
    this.#work = work;
    this.#chunks = chunksOf(text);
    this.#length = this.#chunks.reduce((sum, { count }) => sum + count, 0);
  }

  get length(): number {
    return this.#length;
  }

  at(index: number): EditableValue | undefined {
    if (index >= this.#length) return undefined;
    const { values, offset } = this.#locate(index);
    return values[offset];
  }

  /** `index` is the array's length at most. */
  insert(index: number, value: EditableValue): void {
    const { chunk, values, offset } = this.#locate(index);
    values.splice(offset, 0, value);
    chunk.count += 1;
    this.#length += 1;
  }

  /** `index` is below the array's length. */
  remove(index: number): void {
    const { chunk, values, offset } = this.#locate(index);
    values.splice(offset, 1);
    chunk.count -= 1;
    this.#length -= 1;
  }

  text(): string {
    const filled = this.#chunks.filter(({ count }) => count > 0);
    return `[${filled.map(({ content }) => (typeof content === "string" ? content : content.map(textOf).join(","))).join(",")}]`;
  }

  /** The chunk of the element at `index`, taken apart; the last chunk for an index at the end. */
  #locate(index: number): { chunk: Chunk; values: EditableValue[]; offset: number } {
    let offset = index;
    let chunkIndex = 0;
    for (const { count } of this.#chunks) {
      if (offset < count || chunkIndex === this.#chunks.length - 1) break;
      offset -= count;
      chunkIndex += 1;
    }
    this.#work.spend(chunkIndex);
    const chunk = this.#chunks[chunkIndex] as Chunk;
    return { chunk, values: this.#valuesOf(chunk), offset };
  }

  #valuesOf(chunk: Chunk): EditableValue[] {
    if (typeof chunk.content !== "string") return chunk.content;
    this.#work.spend(chunk.content.length + valueCost * chunk.count);
    const values = elementsIn(chunk.content);
    chunk.content = values;
    return values;
  }
}

/** At least one. */
function chunksOf(text: string): Chunk[] {
  if (text === "[]") return [{ count: 0, content: [] }];
  const chunks: Chunk[] = [];
  const last = text.length - 1;
  for (let start = 1; start < last; ) {
    let end = start - 1;
    let count = 0;
    do {
      end = endOfValue(text, end + 1);
      count += 1;
    } while (end < last && end - start < chunkLength);
    chunks.push({ count, content: text.slice(start, end) });
    start = end + 1;
  }
  return chunks;
}

function elementsIn(text: string): EditableValue[] {
  const values: EditableValue[] = [];
  for (let start = 0; start < text.length; ) {
    const end = endOfValue(text, start);
    values.push({ content: text.slice(start, end) });
    start = end + 1;
  }
  return values;
}

/** A member of the text that was asked for; without a value once it is removed. */
interface FoundMember {
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
  value: EditableValue | undefined;
}

/** An object whose members change; members that no change names stay the same text. */
export class EditableObject {
  readonly #text: string;
  readonly #work: PatchWork;
  readonly #found = new Map<string, FoundMember>();
  readonly #added = new Map<string, EditableValue>();
  /** Where members start, by their names as they are written: of those before `#next`. */
  readonly #starts = new Map<string, number>();
  #next = 1;
  #wasSearched = false;

  /** `text` is an object's. */
  constructor(text: string, work: PatchWork) {
    this.#text = text;
    this.#work = work;
  }

  get(name: string): EditableValue | undefined {
    return this.#added.get(name) ?? this.#find(name)?.value;
  }

  /** At the place of the member of this name, or behind all others. */
  set(name: string, value: EditableValue): void {
    const found = this.#added.has(name) ? undefined : this.#find(name);
    if (found?.value === undefined) this.#added.set(name, value);
    else found.value = value;
  }

  delete(name: string): void {
    if (this.#added.delete(name)) return;
    const found = this.#find(name);
    if (found !== undefined) found.value = undefined;
  }

  text(): string {
    const parts: string[] = [];
    let from = 1;
    for (const { start, valueStart, end, value } of [...this.#found.values()].sort((a, b) => a.start - b.start)) {
      if (start > from) parts.push(this.#text.slice(from, start - 1));
      if (value !== undefined) parts.push(this.#text.slice(start, valueStart) + textOf(value));
      from = end + 1;
    }
    if (from < this.#text.length - 1) parts.push(this.#text.slice(from, -1));
    for (const [name, value] of this.#added) parts.push(`${JSON.stringify(name)}:${textOf(value)}`);
    return `{${parts.join(",")}}`;
  }

  #find(name: string): FoundMember | undefined {
    const before = this.#found.get(name);
    if (before !== undefined) return before;
    const nameText = JSON.stringify(name);
    const start = this.#startOf(nameText);
    if (start === undefined) return undefined;
    const valueStart = start + nameText.length + 1;
    const end = endOfValue(this.#text, valueStart);
    this.#work.spend(end - start);
    const found = { start, valueStart, end, value: { content: this.#text.slice(valueStart, end) } };
    this.#found.set(name, found);
    return found;
  }

  #startOf(nameText: string): number | undefined {
    // Most patches ask for one name, and remembering where all are costs eight times as much as
    // finding one.
    if (this.#wasSearched) return this.#starts.get(nameText) ?? this.#startAhead(nameText);
    this.#wasSearched = true;
    const start = memberAt(this.#text, 0, nameText)?.nameStart;
    this.#work.spend(start ?? this.#text.length);
    return start;
  }

  /** Continues from the last member whose position is known. */
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
