// The schemas that get a name, and those that they refer to: each reference into an OpenAPI
// document becomes one to a definition.

import type { Json, JsonObject } from "../../core/config/types.ts";
import { isArray, isObject } from "../../core/json/json-value.ts";
import { isList, isNamed, isSingle } from "../../core/schema/read/keywords.ts";
import { mergePatchSchema } from "./merge-patch-schema.ts";
import { pascalCase, type TypeNames } from "./type-names.ts";

/** References are `#/$defs/<name>`. */
export interface Definition {
  readonly schema: Json;
  /** Where a type can say more: the schema that it is made of. */
  readonly typed?: Json;
  /** Where the type is another one with all members optional: the reference to that one. */
  readonly partialOf?: string;
}

interface ResourceNames {
  readonly type: string;
  /** The component of what a POST sends. */
  readonly sentName: string;
  /** Whether there is such a POST. */
  readonly isCreated: boolean;
}

/** With which references to components of an OpenAPI document begin. */
export const components = "#/components/schemas/";
const definitions = "#/$defs/";
/** Behind a reference: to a merge patch of what it leads to. */
const patchMark = "#patch";

export function patchRef(reference: string): string {
  return `${reference}${patchMark}`;
}

export class NamedSchemas {
  readonly #schemas: JsonObject;
  readonly #names: TypeNames;
  /** By component. */
  readonly #named = new Map<string, string>();
  readonly #waiting: { readonly name: string; readonly component: string }[] = [];
  readonly #definitions = new Map<string, Definition>();
  #resource: { readonly base: string; readonly names: ResourceNames } | undefined;

  /** `schemas` = those of the document's components. */
  constructor(schemas: JsonObject, names: TypeNames) {
    this.#schemas = schemas;
    this.#names = names;
  }

  /** From here on, components that begin with `base` belong to this resource. */
  name(base: string, names: ResourceNames): void {
    this.#addWaiting();
    this.#resource = { base, names };
    const { type, sentName, isCreated } = names;
    if (isCreated) this.#named.set(sentName, `${type}Create`);
    // Whatever refers to a patch of the whole means the type that is added for it.
    for (const whole of [base, `${base}.data`, sentName]) this.#named.set(`${whole}${patchMark}`, `${type}Patch`);
  }

  add(name: string, { schema, typed, partialOf }: Definition): void {
    this.#definitions.set(name, {
      schema: this.#renamed(schema),
      ...(typed !== undefined && { typed: this.#renamed(typed) }),
      ...(partialOf !== undefined && { partialOf: this.#reference(partialOf) }),
    });
  }

  finish(): ReadonlyMap<string, Definition> {
    this.#addWaiting();
    return this.#definitions;
  }

  #addWaiting(): void {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.add(next.name, { schema: this.#schemaOf(next.component) });
    }
  }

  #schemaOf(component: string): Json {
    if (!component.endsWith(patchMark)) return this.#schemas[component] ?? true;
    // Some may refer to it from a choice.
    return mergePatchSchema(this.#schemas[component.slice(0, -patchMark.length)] ?? true, { patchRef, isChoice: true });
  }

  #reference($ref: string): string {
    const component = $ref.slice(components.length);
    let name = this.#named.get(component);
    if (name === undefined) {
      name = this.#nameOf(component);
      this.#named.set(component, name);
      this.#waiting.push({ name, component });
    }
    return `${definitions}${name}`;
  }

  #nameOf(component: string): string {
    if (component.endsWith(patchMark)) {
      const patched = this.#reference(`${components}${component.slice(0, -patchMark.length)}`);
      return this.#names.take(`${patched.slice(definitions.length)}Patch`);
    }
    const { base, names } = this.#resource ?? {};
    if (names === undefined) return this.#names.take(pascalCase(component));
    // The name is kept free for it.
    if (component === base || component === `${base}.data`) return `${names.type}Data`;
    if (!component.startsWith(`${base}.`)) return this.#names.take(pascalCase(component));
    const isSent = /\.sent(-\d+)?$/.test(component);
    const own = pascalCase(component.slice(`${base}.`.length).replace(/\.sent(?=-\d+$|$)/, ""));
    return this.#names.take(`${names.type}${own}${isSent ? "Create" : ""}`);
  }

  #renamed(schema: Json): Json {
    if (!isObject(schema)) return schema;
    const { $ref } = schema;
    // An id is a string like any other.
    if ($ref === `${components}Id`) return this.#schemas["Id"] ?? true;
    return Object.fromEntries(
      Object.entries(schema).map(([keyword, value]) => [keyword, this.#inside(keyword, value)]),
    );
  }

  #inside(keyword: string, value: Json): Json {
    if (keyword === "$ref") return this.#reference(String(value));
    if (isSingle(keyword)) return this.#renamed(value);
    if (isList(keyword) && isArray(value)) return value.map((each) => this.#renamed(each));
    if (!isNamed(keyword) || !isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, this.#renamed(each)]));
  }
}
