// Reads the project's OpenAPI document: its resources and root keys, what may be done with them,
// and the fields of objects. What the document does not have is not offered.

import type { Json, JsonObject as SchemaObject } from "../../core/config/types.ts";
import { operatorsFor } from "../../core/filter-operators.ts";
import { sampleValue } from "../../core/schema/sample-value.ts";
import { namedBy, writtenOperator } from "./objects/list-query.ts";

type JsonObject = Readonly<Record<string, unknown>>;

export interface Field {
  readonly name: string;
  /** JSON Schema types; empty = any. */
  readonly types: readonly string[];
  /** The only ones, as a filter takes them; absent where the schema lists none. */
  readonly values?: readonly string[];
  readonly description?: string;
  readonly isRequired: boolean;
  /** JSON text of a value to begin with. */
  readonly sample: string;
}

/** A parameter of the list that compares a field: `price` or `price:ge`. */
export interface Filter {
  readonly field: string;
  /** Empty: equals. */
  readonly operator: string;
  /** What the server says of it. */
  readonly description: string;
}

export interface Resource {
  readonly name: string;
  readonly description?: string;
  /** Declared properties, required ones first. */
  readonly fields: readonly Field[];
  readonly filters: readonly Filter[];
  /** Fields that a list can be sorted by at any size. */
  readonly sortable: ReadonlySet<string>;
  /** Largest and default number of objects on a page. */
  readonly maxPageSize: number;
  readonly may: {
    readonly list: boolean;
    readonly create: boolean;
    readonly update: boolean;
    readonly delete: boolean;
  };
  /** JSON text of an object that could be created; undefined where the document shows none. */
  readonly sample?: string;
}

export interface RootKey {
  readonly name: string;
  /** `write`: replace the value or something in it; `add`, `delete`: members and elements. */
  readonly may: { readonly read: boolean; readonly write: boolean; readonly add: boolean; readonly delete: boolean };
}

export interface Description {
  readonly title: string;
  readonly resources: readonly Resource[];
  readonly rootKeys: readonly RootKey[];
}

export function readDescription(document: unknown): Description {
  const whole = new OpenApiDocument(document as JsonObject);
  const { title } = objectAt(whole.root, "info");
  const paths = objectAt(whole.root, "paths");
  const names = (prefix: string): readonly string[] =>
    Object.keys(paths).flatMap((path) => new RegExp(`^/${prefix}/([^/{]+)`).exec(path)?.[1] ?? []);
  return {
    title: String(title),
    resources: [...new Set(names("api"))].map((name) => resourceOf(whole, name)),
    rootKeys: [...new Set(names("json"))].map((name) => rootKeyOf(paths, name)),
  };
}

/** Follows references within the document. */
class OpenApiDocument {
  readonly root: JsonObject;

  constructor(root: JsonObject) {
    this.root = root;
  }

  resolve(value: unknown): JsonObject {
    let found = asObject(value);
    // A reference to a reference is rare, and one that leads in a circle is a fault of the
    // document.
    for (let steps = 0; typeof found["$ref"] === "string" && steps < 10; steps += 1) {
      const segments = found["$ref"].replace(/^#\//, "").split("/");
      found = segments.reduce<JsonObject>((at, segment) => objectAt(at, unescaped(segment)), this.root);
    }
    return found;
  }
}

function resourceOf(whole: OpenApiDocument, name: string): Resource {
  const paths = objectAt(whole.root, "paths");
  const collection = objectAt(paths, `/api/${name}`);
  const single = objectAt(paths, `/api/${name}/{id}`);
  const { post, get } = collection;
  const parameters = listIn(asObject(get), "parameters").map((each) => whole.resolve(each));
  const named = (wanted: string): JsonObject => parameters.find((each) => each["name"] === wanted) ?? {};
  const body = objectAt(objectAt(objectAt(asObject(post), "requestBody"), "content"), "application/json");
  const fields = fieldsOf(whole, collection, single);
  const description = listIn(whole.root, "tags").find((tag) => asObject(tag)["name"] === `api/${name}`);
  return {
    name,
    ...textMember(asObject(description)),
    fields,
    filters: withOperators(parameters.flatMap(filterOf), fields),
    sortable: new Set(sortableIn(listIn(named("_sort"), "x-jsonplane-indexes"))),
    maxPageSize: Number(objectAt(named("_limit"), "schema")["maximum"] ?? 100),
    may: {
      list: get !== undefined,
      create: post !== undefined,
      update: single["put"] !== undefined,
      delete: single["delete"] !== undefined,
    },
    ...(body["example"] !== undefined && { sample: JSON.stringify(body["example"], null, 2) }),
  };
}

/** Of what is sent where objects can be created; else of what is read. */
function fieldsOf(whole: OpenApiDocument, collection: JsonObject, single: JsonObject): readonly Field[] {
  const sent = objectAt(asObject(collection["post"]), "requestBody");
  const read = objectAt(objectAt(asObject(single["get"]), "responses"), "200");
  const schema = [sent, read]
    .map((each) => whole.resolve(objectAt(objectAt(each, "content"), "application/json")["schema"]))
    .find((each) => Object.keys(each).length > 0);
  if (schema === undefined) return [];
  const properties = propertiesOf(whole, schema);
  const required = new Set(requiredOf(whole, schema));
  const fields = [...properties]
    .filter(([name]) => name !== "id" && name !== "_metadata")
    .map(([name, property]) => ({
      name,
      types: typesOf(property),
      ...valuesMember(property),
      ...textMember(property),
      isRequired: required.has(name),
      sample: sampleOf(whole, name, property),
    }));
  return [...fields.filter(({ isRequired }) => isRequired), ...fields.filter(({ isRequired }) => !isRequired)];
}

function sampleOf({ root }: OpenApiDocument, name: string, property: JsonObject): string {
  // The document's name for a default that the service doesn't fill in.
  const { "x-default": fallback } = property;
  const schema = fallback === undefined ? property : { default: fallback, ...property };
  return JSON.stringify(sampleValue(schema as Json, { root: root as SchemaObject, name, depth: 0 }));
}

function propertiesOf(whole: OpenApiDocument, schema: JsonObject): ReadonlyMap<string, JsonObject> {
  const own = Object.entries(objectAt(schema, "properties")).map(
    ([name, property]) => [name, whole.resolve(property)] as const,
  );
  const parts = listIn(schema, "allOf").flatMap((part) => [...propertiesOf(whole, whole.resolve(part))]);
  return new Map([...parts, ...own]);
}

function requiredOf(whole: OpenApiDocument, schema: JsonObject): readonly string[] {
  const parts = listIn(schema, "allOf").flatMap((part) => requiredOf(whole, whole.resolve(part)));
  return [...parts, ...listIn(schema, "required").map(String)];
}

function typesOf(property: JsonObject): readonly string[] {
  const { type } = property;
  if (typeof type === "string") return [type];
  return Array.isArray(type) ? type.map(String) : [...new Set(listedIn(property).map(typeOf))];
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

interface ParameterFilter extends Filter {
  /** Of its value; empty = any. */
  readonly types: readonly string[];
}

function filterOf(parameter: JsonObject): readonly ParameterFilter[] {
  const name = String(parameter["name"]);
  const isFilter = parameter["in"] === "query" && (!name.startsWith("_") || name.startsWith("_metadata."));
  if (!isFilter) return [];
  const { type } = objectAt(parameter, "schema");
  const types = typeof type === "string" ? [type] : [];
  return [{ ...namedBy(name), description: String(parameter["description"] ?? ""), types }];
}

/** An index of two fields is no column's order. */
function sortableIn(indexes: readonly unknown[]): readonly string[] {
  return indexes.map(String).filter((name) => !name.includes(","));
}

/**
 * The document names each operator of an indexed field. Of a field without an index it has one
 * filter, to be short; all others that fit its types work too.
 */
function withOperators(filters: readonly ParameterFilter[], fields: readonly Field[]): readonly Filter[] {
  const byField = Map.groupBy(filters, ({ field }) => field);
  return [...byField.values()].flatMap((own) => {
    const [first, ...others] = own;
    if (first === undefined || others.length > 0 || first.operator !== "" || first.field.startsWith("_")) return own;
    const types = fields.find(({ name }) => name === first.field)?.types ?? first.types;
    return operatorsFor(types).map((name) => ({ ...first, operator: writtenOperator(name) }));
  });
}

function rootKeyOf(paths: JsonObject, name: string): RootKey {
  const { get, put } = objectAt(paths, `/json/${name}`);
  const part = objectAt(paths, `/json/${name}/{path}`);
  const has = (method: string): boolean => part[method] !== undefined;
  const may = { read: get !== undefined, write: put !== undefined, add: has("post"), delete: has("delete") };
  return { name, may };
}

function textMember({ description }: JsonObject): { readonly description?: string } {
  return typeof description === "string" ? { description } : {};
}

function asObject(value: unknown): JsonObject {
  return typeof value === "object" && value !== null ? (value as JsonObject) : {};
}

function objectAt(value: JsonObject, name: string): JsonObject {
  return asObject(Object.hasOwn(value, name) ? value[name] : undefined);
}

function listIn(value: JsonObject, name: string): readonly unknown[] {
  const found = Object.hasOwn(value, name) ? value[name] : undefined;
  return Array.isArray(found) ? found : [];
}

/** RFC 6901, in the fragment of a URL. */
function unescaped(segment: string): string {
  return decodeURIComponent(segment).replaceAll("~1", "/").replaceAll("~0", "~");
}
