// Turns JSON values into texts that are equal exactly when JSON Schema calls the values equal:
// members in any order, numbers by value. Comparing texts in a set keeps uniqueItems and enum
// linear.

import type { Meter } from "../meter.ts";
import type { ExactIntegers } from "./numbers.ts";

export interface Comparing {
  readonly meter: Pick<Meter, "spend">;
  readonly exact: ExactIntegers;
}

/** The value as comparable text; undefined beyond `limit`. @throws WorkExhausted */
export function comparableText(
  container: unknown,
  key: string | number,
  comparing: Comparing,
  limit: number,
): string | undefined {
  const writer = new ComparableWriter(comparing, limit);
  writer.write((container as Readonly<Record<string, unknown>>)[key], container, key);
  return writer.text;
}

class ComparableWriter {
  readonly #comparing: Comparing;
  readonly #limit: number;
  #text = "";

  constructor(comparing: Comparing, limit: number) {
    this.#comparing = comparing;
    this.#limit = limit;
  }

  get text(): string | undefined {
    return this.#text.length <= this.#limit ? this.#text : undefined;
  }

  write(value: unknown, container: unknown, key: string | number): void {
    if (this.#text.length > this.#limit) return;
    if (Array.isArray(value)) {
      this.#add("[");
      for (const [index, item] of value.entries()) {
        this.write(item, value, index);
        this.#add(",");
      }
      this.#add("]");
    } else if (typeof value === "object" && value !== null) {
      this.#writeObject(value as Readonly<Record<string, unknown>>);
    } else if (typeof value === "number") {
      this.#add(String(this.#comparing.exact.at(container, key) ?? value));
    } else {
      this.#add(JSON.stringify(value));
    }
  }

  #writeObject(value: Readonly<Record<string, unknown>>): void {
    const names = Object.keys(value);
    // Sorting costs more than a walk, and all names are written before the limit is checked again.
    this.#comparing.meter.spend(10 * names.length);
    this.#add("{");
    for (const name of names.sort()) {
      this.#add(`${JSON.stringify(name)}:`);
      this.write(value[name], value, name);
      this.#add(",");
    }
    this.#add("}");
  }

  #add(text: string): void {
    this.#comparing.meter.spend(6 + (text.length >> 3));
    this.#text += text;
  }
}
