// Reads from a project's OpenAPI document what a client's types need: for each resource the JSON
// Schemas of its objects as they are read, created and changed, its filters and orders; the root
// keys; the codes of problems. What nobody may do has no schema.

import type { Json, JsonObject } from "../../core/config/types.ts";
import { isArray, isObject } from "../../core/json/json-value.ts";
import { isPlain } from "../../dataplane/openapi/describe/resource-schemas.ts";
import { ServiceRefused } from "../service/service.ts";
import { type Definition, NamedSchemas } from "./named-schemas.ts";
import { TypeNames } from "./type-names.ts";

export interface DescribedApi {
  readonly resources: readonly DescribedResource[];
  readonly rootKeys: readonly string[];
  /** By name, in the order of the resources. */
  readonly definitions: ReadonlyMap<string, Definition>;
}

/** Names of definitions; undefined = there is no such operation. */
export interface DescribedResource {
  readonly name: string;
  readonly object: string | undefined;
  readonly create: string | undefined;
  readonly patch: string | undefined;
  readonly filters: string | undefined;
  readonly sort: string | undefined;
}

/** Throws ServiceRefused where the document is none of a project. */
export function describeApi(document: Json): DescribedApi {
  const paths = at(document, "paths");
  const schemas = at(document, "components", "schemas");
  const codes = at(schemas, "Problem", "properties", "code", "enum");
  if (!isObject(paths) || !isObject(schemas) || codes === undefined) {
    throw new ServiceRefused("This is not the OpenAPI document of a project");
  }
  const names = new TypeNames();
  const problemCode = names.take("ProblemCode");
  const named = new NamedSchemas(schemas, names);
  const collections = Object.keys(paths).flatMap((path) => /^\/api\/([^/]+)/.exec(path)?.[1] ?? []);
  const resources = [...new Set(collections)].map((name) => describeResource(name, paths, { schemas, names, named }));
  named.add(problemCode, { schema: { description: "Programs branch on it.", enum: codes } });
  const rootKeys = Object.keys(paths).flatMap((path) => /^\/json\/([^/]+)$/.exec(path)?.[1] ?? []);
  return { resources, rootKeys, definitions: named.finish() };
}

interface Parts {
  readonly schemas: JsonObject;
  readonly names: TypeNames;
  readonly named: NamedSchemas;
}

function describeResource(name: string, paths: JsonObject, { schemas, names, named }: Parts): DescribedResource {
  const collection = at(paths, `/api/${name}`);
  const single = at(paths, `/api/${name}/{id}`);
  const storedName = componentIn(answerOf(single, "get", "200")) ?? componentIn(answerOf(collection, "post", "201"));
  const create = componentIn(bodyOf(collection, "post"));
  const base = storedName?.replace(/\.stored(-\d+)?$/, "") ?? create ?? name;
  const sentName = create ?? base;
  const sent = at(schemas, sentName);
  const stored = at(schemas, storedName ?? "");
  const type = names.takeForResource(name, at(stored, "title") ?? at(sent, "title"));
  named.name(base, { type, sentName, isCreated: create !== undefined });
  const change = componentIn(bodyOf(single, "put"));
  const list = at(collection, "get");
  const add = (ending: string, definition: Definition | undefined): string | undefined => {
    if (definition === undefined) return undefined;
    named.add(`${type}${ending}`, definition);
    return `${type}${ending}`;
  };
  const shapes = { name: base, sentName, sent, stored, schemas };
  return {
    name,
    object: add("", isObject(stored) ? objectOf(shapes, stored) : undefined),
    create: create && add("Create", { schema: sent ?? true }),
    patch: change && add("Patch", patchOf(shapes, at(schemas, change))),
    filters: add("Filters", isObject(list) ? { schema: filtersOf(list, sent) } : undefined),
    sort: add("Sort", isObject(list) ? { schema: { enum: sortKeysOf(list) } } : undefined),
  };
}

interface Shapes {
  readonly name: string;
  readonly sentName: string;
  readonly sent: Json | undefined;
  readonly stored: Json | undefined;
  readonly schemas: JsonObject;
}

/**
 * The component of the whole data without `id` and `_metadata`. Undefined where it can't be told:
 * with defaults, what is sent is another one.
 */
function dataOf({ name, sentName, stored, schemas }: Shapes): string | undefined {
  const [extended] = listOf(at(stored, "allOf"));
  if (extended !== undefined) return componentIn(extended);
  return Object.hasOwn(schemas, `${name}.data`) ? undefined : sentName;
}

/** JSON Schema can't add members to a closed object; a type can, unless it names no members. */
function objectOf(shapes: Shapes, stored: JsonObject): Definition {
  const data = dataOf(shapes);
  const isWhole = stored.allOf !== undefined || (isObject(shapes.sent) && isPlain(shapes.sent));
  if (isWhole || data === undefined || hasIndex({ $ref: refTo(data) }, shapes.schemas)) return { schema: stored };
  const { id = true, _metadata = true } = membersOf(stored);
  const own = { type: "object", properties: { id, _metadata }, required: ["id", "_metadata"] };
  return { schema: stored, typed: { allOf: [{ $ref: refTo(data) }, own] } };
}

/** Any of the members of an object, of the choice that it is where there are several. */
function patchOf(shapes: Shapes, changes: Json | undefined): Definition {
  const { id: _, _metadata: __, ...members } = membersOf(changes);
  const described = { type: "object", description: at(changes, "description") ?? "", properties: members };
  const { sent, stored } = shapes;
  if (isObject(sent) && isPlain(sent)) {
    const others = at(stored, "additionalProperties");
    return { schema: { ...described, ...(others !== undefined && { additionalProperties: others }) } };
  }
  const data = dataOf(shapes);
  const others = at(changes, "additionalProperties") ?? true;
  return { schema: { ...described, additionalProperties: others }, ...(data && { partialOf: refTo(data) }) };
}

/** Whether it says of members without a name what they are. */
function hasIndex(schema: Json, schemas: JsonObject, seen: ReadonlySet<string> = new Set()): boolean {
  if (!isObject(schema)) return false;
  if (isObject(schema.additionalProperties) || isObject(schema.patternProperties)) return true;
  const { $ref } = schema;
  const parts = ["allOf", "anyOf", "oneOf"].flatMap((keyword) => listOf(schema[keyword]));
  if (typeof $ref === "string" && !seen.has($ref)) parts.push(at(schemas, componentIn(schema) ?? "") ?? true);
  const further = typeof $ref === "string" ? new Set([...seen, $ref]) : seen;
  return parts.some((part) => hasIndex(part, schemas, further));
}

/** They page and shape a list, and filter nothing. */
const notFilters = new Set(["_limit", "_offset", "_cursor", "_sort"].concat(["_fields", "_count", "_etags", "_valid"]));

function filtersOf(list: JsonObject, sent: Json | undefined): JsonObject {
  const filters = listOf(list.parameters).flatMap((parameter): [string, Json][] => {
    const name = at(parameter, "name");
    if (typeof name !== "string" || at(parameter, "in") !== "query" || notFilters.has(name)) return [];
    return [[name, comparedWith(name, sent) ?? at(parameter, "schema") ?? true]];
  });
  return { type: "object", properties: Object.fromEntries(filters), additionalProperties: false };
}

/** What a field can be equal to, where its schema names types or values; otherwise undefined. */
function comparedWith(filter: string, sent: Json | undefined): JsonObject | undefined {
  const field = filter.replace(/:ne$/, "");
  const schema =
    at(membersOf(sent), field) ?? field.split(".").reduce((within, name) => at(membersOf(within), name), sent);
  if (!isObject(schema)) return undefined;
  const types = [schema.type ?? []].flat() as readonly Json[];
  if (types.some((type) => type === "object" || type === "array")) return undefined;
  const said = Object.entries(schema).filter(([keyword]) => ["type", "enum", "const"].includes(keyword));
  return said.length > 0 ? Object.fromEntries(said) : undefined;
}

/** Those that are cheap at any size, in both directions. */
function sortKeysOf(list: JsonObject): readonly string[] {
  const sort = listOf(list.parameters).find((parameter) => at(parameter, "name") === "_sort");
  const indexes = listOf(at(sort, "x-jsonplane-indexes")).filter((name) => typeof name === "string");
  return [...indexes, "id", "_metadata.created"].flatMap((name) => [name, `-${name.replaceAll(",", ",-")}`]);
}

function bodyOf(path: Json | undefined, method: string): Json | undefined {
  return at(path, method, "requestBody", "content", "application/json", "schema");
}

function answerOf(path: Json | undefined, method: string, status: string): Json | undefined {
  return at(path, method, "responses", status, "content", "application/json", "schema");
}

const components = "#/components/schemas/";

function refTo(component: string): string {
  return `${components}${component}`;
}

function componentIn(reference: Json | undefined): string | undefined {
  const $ref = at(reference, "$ref");
  return typeof $ref === "string" && $ref.startsWith(components) ? $ref.slice(components.length) : undefined;
}

function membersOf(schema: Json | undefined): JsonObject {
  const properties = at(schema, "properties");
  return isObject(properties) ? properties : {};
}

function listOf(value: Json | undefined): readonly Json[] {
  return isArray(value) ? value : [];
}

function at(value: Json | undefined, ...names: readonly string[]): Json | undefined {
  let found = value;
  for (const name of names) found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  return found;
}
