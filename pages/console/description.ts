// Reads the project's OpenAPI document: its resources and root keys, what may be done with them,
// and the fields of objects. What the document does not have is not offered.

import { operatorsFor } from "../../core/filter-operators.ts";
import { type Field, readFields, textMember } from "./fields.ts";
import { namedBy, writtenOperator } from "./objects/list-query.ts";
import { asObject, type JsonObject, listIn, OpenApiDocument, objectAt } from "./open-api-document.ts";
import { isServedReadOnly } from "./permitted.ts";

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
  /** Declared properties of stored objects, in the order of the schema. */
  readonly fields: readonly Field[];
  /** Of new objects, which may leave out what has a default. */
  readonly newFields: readonly Field[];
  readonly filters: readonly Filter[];
  /** Fields that a list can be sorted by at any size. */
  readonly sortable: ReadonlySet<string>;
  /** Largest and default number of objects on a page. */
  readonly maxPageSize: number;
  readonly may: {
    readonly list: boolean;
    /** Without credentials. */
    readonly listAnonymously: boolean;
    readonly create: boolean;
    readonly update: boolean;
    readonly delete: boolean;
  };
  /** The role Users changes and deletes only what it has created. */
  readonly isOwnOnly: boolean;
}

export interface RootKey {
  readonly name: string;
  /** `write`: replace the value or something in it; `add`, `delete`: members and elements. */
  readonly may: { readonly read: boolean; readonly write: boolean; readonly add: boolean; readonly delete: boolean };
}

export interface Description {
  readonly title: string;
  readonly isReadOnly: boolean;
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
    isReadOnly: isServedReadOnly(document),
    resources: [...new Set(names("api"))].map((name) => resourceOf(whole, name)),
    rootKeys: [...new Set(names("json"))].map((name) => rootKeyOf(paths, name)),
  };
}

function resourceOf(whole: OpenApiDocument, name: string): Resource {
  const paths = objectAt(whole.root, "paths");
  const collection = objectAt(paths, `/api/${name}`);
  const single = objectAt(paths, `/api/${name}/{id}`);
  const { post, get } = collection;
  const parameters = listIn(asObject(get), "parameters").map((each) => whole.resolve(each));
  const named = (wanted: string): JsonObject => parameters.find((each) => each["name"] === wanted) ?? {};
  const newFields = fieldsOf(whole, objectAt(asObject(post), "requestBody"));
  const read = fieldsOf(whole, objectAt(objectAt(asObject(single["get"]), "responses"), "200"));
  const fields = newFields.length === 0 ? read : newFields.map((field) => asStored(field, read));
  const description = listIn(whole.root, "tags").find((tag) => asObject(tag)["name"] === `api/${name}`);
  return {
    name,
    ...textMember(asObject(description)),
    fields,
    newFields,
    filters: withOperators(parameters.flatMap(filterOf), fields),
    sortable: new Set(sortableIn(listIn(named("_sort"), "x-jsonplane-indexes"))),
    maxPageSize: Number(objectAt(named("_limit"), "schema")["maximum"] ?? 100),
    may: {
      list: get !== undefined,
      listAnonymously: asObject(get)["x-jsonplane-permission"] === "Anyone",
      create: post !== undefined,
      update: single["put"] !== undefined,
      delete: single["delete"] !== undefined,
    },
    isOwnOnly: Object.values(single).some((operation) => asObject(operation)["x-jsonplane-scope"] === "Own"),
  };
}

/** Of what is sent or read; none where the document does not have it. */
function fieldsOf(whole: OpenApiDocument, { content }: JsonObject): readonly Field[] {
  return readFields(whole, objectAt(objectAt(asObject(content), "application/json"), "schema"));
}

/** The field as it is read. What is said of responses may lack what is required. */
function asStored(field: Field, read: readonly Field[]): Field {
  const stored = read.find(({ name }) => name === field.name) ?? field;
  return { ...stored, isRequired: field.isRequired || stored.isRequired };
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
