// Fills the defaults of a schema into canonical JSON text: finds the members that are missing, in
// objects that are there, and where their text belongs. Nothing is parsed, so numbers stay as sent.

import { endOfString, endOfValue } from "../../json/walk.ts";

/** What may be missing in the value that some schemas describe together. */
export interface Filling {
  /** Names as canonical text writes them, each with the text of its value, filled in itself. */
  readonly defaults: ReadonlyMap<string, { readonly text: string }>;
  /** Of the members that the schemas name; undefined where nothing can be missing inside. */
  readonly members: ReadonlyMap<string, Filling | undefined>;
  /** Of all other members. */
  readonly others: Filling | undefined;
  /** Of the first items. */
  readonly first: readonly (Filling | undefined)[];
  /** Of the items behind these. */
  readonly items: Filling | undefined;
}

/** A text, and where it goes into another one. */
export type Insertion = readonly [at: number, text: string];

/**
 * What `filling` finds missing, in order; undefined when the text would become longer than
 * `maxLength`.
 */
export function insertionsOf(filling: Filling, text: string, maxLength: number): readonly Insertion[] | undefined {
  const filler = new Filler(text, maxLength);
  return filler.fill(filling) ? filler.insertions : undefined;
}

export function withInsertions(text: string, insertions: readonly Insertion[]): string {
  let filled = "";
  let from = 0;
  for (const [at, inserted] of insertions) {
    filled += text.slice(from, at) + inserted;
    from = at;
  }
  return filled + text.slice(from);
}

class TooLong extends Error {}

class Filler {
  readonly insertions: Insertion[] = [];
  readonly #text: string;
  /** Characters that may still be added. */
  #left: number;

  constructor(text: string, maxLength: number) {
    this.#text = text;
    this.#left = maxLength - text.length;
  }

  /** False when the text would become too long. */
  fill(filling: Filling): boolean {
    try {
      this.#value(filling, 0);
      return true;
    } catch (error) {
      if (error instanceof TooLong) return false;
      throw error;
    }
  }

  /** The position behind the value at `start`. */
  #value(filling: Filling | undefined, start: number): number {
    const first = filling === undefined ? "" : this.#text.charAt(start);
    if (filling !== undefined && first === "{") return this.#object(filling, start);
    if (filling !== undefined && first === "[") return this.#array(filling, start);
    return endOfValue(this.#text, start);
  }

  #object({ defaults, members, others }: Filling, start: number): number {
    const missing = new Map(defaults);
    const isEmpty = this.#text.charAt(start + 1) === "}";
    let at = start + 1;
    while (this.#text.charAt(at) !== "}") {
      const nameStart = this.#text.charAt(at) === "," ? at + 1 : at;
      const nameEnd = endOfString(this.#text, nameStart);
      const name = this.#text.slice(nameStart, nameEnd);
      missing.delete(name);
      at = this.#value(members.has(name) ? members.get(name) : others, nameEnd + 1);
    }
    const added = [...missing].map(([name, value]) => `${name}:${value.text}`).join(",");
    if (added !== "") this.#insert(at, isEmpty ? added : `,${added}`);
    return at + 1;
  }

  #array({ first, items }: Filling, start: number): number {
    let at = start + 1;
    for (let index = 0; this.#text.charAt(at) !== "]"; index += 1) {
      const itemStart = this.#text.charAt(at) === "," ? at + 1 : at;
      at = this.#value(index < first.length ? first[index] : items, itemStart);
    }
    return at + 1;
  }

  #insert(at: number, text: string): void {
    this.#left -= text.length;
    if (this.#left < 0) throw new TooLong();
    this.insertions.push([at, text]);
  }
}
