// The components of a description: each has a name, and is referred to. Generators make types and
// files of the names, so these have only letters, digits, `-`, `_` and `.`.

import type { Json, JsonObject } from "../../../core/config/types.ts";

type Section = "schemas" | "responses" | "parameters" | "headers";

export class Components {
  readonly #sections = new Map<Section, Map<string, Json>>();
  readonly #shared = new Map<string, JsonObject>();

  /** Adds `part` as `wanted`, or a similar name if that is taken. Returns a reference to it. */
  add(section: Section, wanted: string, part: Json): JsonObject {
    const name = this.reserve(section, wanted);
    this.put(section, name, part);
    return refTo(section, name);
  }

  /** As `add`, but once for each `key`. */
  share(section: Section, wanted: string, key: string, make: () => Json): JsonObject {
    const fullKey = `${section} ${wanted} ${key}`;
    let shared = this.#shared.get(fullKey);
    if (shared === undefined) {
      shared = this.add(section, wanted, make());
      this.#shared.set(fullKey, shared);
    }
    return shared;
  }

  /** A name that nothing else gets, for a part that refers to itself. */
  reserve(section: Section, wanted: string): string {
    const parts = this.#section(section);
    const plain = wanted.replaceAll(/[^A-Za-z0-9._-]+/gu, "_");
    let name = plain;
    for (let count = 2; parts.has(name); count += 1) name = `${plain}-${count}`;
    parts.set(name, true);
    return name;
  }

  put(section: Section, name: string, part: Json): void {
    this.#section(section).set(name, part);
  }

  get(section: Section, name: string): Json | undefined {
    return this.#sections.get(section)?.get(name);
  }

  toJson(): JsonObject {
    return Object.fromEntries(
      [...this.#sections].map(([section, parts]): [string, Json] => [section, Object.fromEntries(parts)]),
    );
  }

  #section(section: Section): Map<string, Json> {
    let parts = this.#sections.get(section);
    if (parts === undefined) {
      parts = new Map();
      this.#sections.set(section, parts);
    }
    return parts;
  }
}

export function refTo(section: Section, name: string): JsonObject {
  return { $ref: `#/components/${section}/${name}` };
}
