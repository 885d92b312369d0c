// Reads the properties of a schema in the OpenAPI document: what they are called, and by which
// control a form shows each. What a form can't show is left to the JSON editor.

import { type JsonObject, listIn, type OpenApiDocument, objectAt } from "./open-api-document.ts";

export type Control =
  | { readonly kind: "text"; readonly format?: string; readonly isLong: boolean }
  /** `step` as the attribute of an HTML input. */
  | { readonly kind: "number"; readonly step: string }
  | { readonly kind: "boolean" }
  /** `options` = JSON texts. */
  | { readonly kind: "choice"; readonly options: readonly string[] }
  | { readonly kind: "group"; readonly fields: readonly Field[] }
  | { readonly kind: "list"; readonly item: Field }
  | { readonly kind: "json" };

export interface Field {
  readonly name: string;
  /** What people read: the schema's title, else the name. */
  readonly label: string;
  /** JSON Schema types; empty = any. */
  readonly types: readonly string[];
  /** The only ones, as a filter takes them; absent where the schema lists none. */
  readonly values?: readonly string[];
  readonly description?: string;
  readonly isRequired: boolean;
  /** It is an element of a list, which has no name of its own. */
  readonly isElement?: true;
  /** An example of the schema, or its default. */
  readonly placeholder?: string;
  readonly control: Control;
}

/** Levels of objects and lists in a form. */
const maxDepth = 5;
/** Characters of a text that fit on a line. */
const maxLineLength = 300;

/** `schema` may be a reference. */
export function readFields(whole: OpenApiDocument, schema: unknown): readonly Field[] {
  return new FieldReader(whole).fieldsOf(schema, []).filter(({ name }) => name !== "id" && name !== "_metadata");
}

class FieldReader {
  readonly #whole: OpenApiDocument;

  constructor(whole: OpenApiDocument) {
    this.#whole = whole;
  }

  /** `above` = the schemas that contain this one. */
  fieldsOf(schema: unknown, above: readonly JsonObject[]): readonly Field[] {
    const own = this.#whole.resolve(schema);
    const required = new Set(this.#requiredIn(own));
    return [...this.#propertiesIn(own)].map(([name, property]) =>
      this.#fieldOf(name, property, required.has(name), [...above, own]),
    );
  }

  #fieldOf(name: string, property: JsonObject, isRequired: boolean, above: readonly JsonObject[]): Field {
    return {
      name,
      label: typeof property["title"] === "string" ? property["title"] : name,
      types: typesOf(property),
      ...valuesMember(property),
      ...textMember(property),
      isRequired,
      ...placeholderMember(property),
      control: this.#controlOf(property, above),
    };
  }

  #controlOf(property: JsonObject, above: readonly JsonObject[]): Control {
    const listed = listedIn(property);
    if (listed.length > 0) return choiceOf(listed);
    const [type, ...others] = typesOf(property).filter((each) => each !== "null");
    if (type === undefined || others.length > 0) return { kind: "json" };
    if (type === "object" || type === "array") return this.#containerOf(type, property, above);
    if (type === "boolean") return { kind: "boolean" };
    if (type !== "string") return { kind: "number", step: stepOf(type, property) };
    const { format, maxLength } = property;
    const isLong = typeof maxLength === "number" && maxLength > maxLineLength;
    return { kind: "text", isLong, ...(typeof format === "string" && { format }) };
  }

  #containerOf(type: "object" | "array", property: JsonObject, above: readonly JsonObject[]): Control {
    // A schema that contains itself has no last level.
    if (above.length > maxDepth || above.includes(property)) return { kind: "json" };
    if (type === "object") {
      const fields = this.fieldsOf(property, above);
      return fields.length === 0 ? { kind: "json" } : { kind: "group", fields };
    }
    const items = this.#whole.resolve(property["items"]);
    const item: Field = { ...this.#fieldOf("item", items, true, [...above, property]), isElement: true };
    const isShown = item.control.kind !== "json" && property["prefixItems"] === undefined;
    return isShown ? { kind: "list", item } : { kind: "json" };
  }

  #propertiesIn(schema: JsonObject): ReadonlyMap<string, JsonObject> {
    const own = Object.entries(objectAt(schema, "properties")).map(
      ([name, property]) => [name, this.#whole.resolve(property)] as const,
    );
    const parts = listIn(schema, "allOf").flatMap((part) => [...this.#propertiesIn(this.#whole.resolve(part))]);
    return new Map([...parts, ...own]);
  }

  #requiredIn(schema: JsonObject): readonly string[] {
    const parts = listIn(schema, "allOf").flatMap((part) => this.#requiredIn(this.#whole.resolve(part)));
    return [...parts, ...listIn(schema, "required").map(String)];
  }
}

export function isNullable({ types }: Field): boolean {
  return types.includes("null");
}

/** A JSON value as text: a string without its quotes, anything else as JSON. */
export function plainText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

export function textMember({ description }: JsonObject): { readonly description?: string } {
  return typeof description === "string" ? { description } : {};
}

function choiceOf(listed: readonly unknown[]): Control {
  const isPlain = listed.every((value) => typeof value !== "object" || value === null);
  return isPlain
    ? { kind: "choice", options: listed.filter((value) => value !== null).map((value) => JSON.stringify(value)) }
    : { kind: "json" };
}

function stepOf(type: string, { multipleOf }: JsonObject): string {
  if (typeof multipleOf === "number") return String(multipleOf);
  return type === "integer" ? "1" : "any";
}

function placeholderMember(property: JsonObject): { readonly placeholder?: string } {
  // The document's name for a default.
  const [example = property["x-default"]] = listIn(property, "examples");
  return example === undefined || (typeof example === "object" && example !== null)
    ? {}
    : { placeholder: plainText(example) };
}

function typesOf(property: JsonObject): readonly string[] {
  const { type } = property;
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type.map(String);
  const listed = [...new Set(listedIn(property).map(typeOf))];
  return listed.length === 0 && Object.hasOwn(property, "properties") ? ["object"] : listed;
}

function listedIn(property: JsonObject): readonly unknown[] {
  return Object.hasOwn(property, "const") ? [property["const"]] : listIn(property, "enum");
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

function valuesMember(property: JsonObject): { readonly values?: readonly string[] } {
  const values = listedIn(property).filter((value) => typeof value !== "object" || value === null);
  return values.length === 0 ? {} : { values: values.map(String) };
}
