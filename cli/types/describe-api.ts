// Reads from a project's OpenAPI document what a client's types need: for each resource the JSON
// Schemas of its objects as they are read, created and changed, its filters and orders; the root
// keys; the codes of problems. What nobody may do has no schema.

import type { Json, JsonObject } from "../../core/config/types.ts";
import { isArray, isObject } from "../../core/json/json-value.ts";
import { isPlain } from "../../dataplane/openapi/describe/resource-schemas.ts";
import { ServiceRefused } from "../service/service.ts";
import { mergePatchSchema } from "./merge-patch-schema.ts";
import { components, type Definition, NamedSchemas, patchRef } from "./named-schemas.ts";
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
  /** Of a PUT. */
  readonly update: string | undefined;
  /** Of a PATCH, as a merge patch. */
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
  const shapes = shapesOf(name, paths, schemas);
  const { sent, stored, changes, isCreated } = shapes;
  const type = names.takeForResource(name, at(stored, "title") ?? at(sent, "title"));
  named.name(shapes.name, { type, sentName: shapes.sentName, isCreated });
  const list = at(paths, `/api/${name}`, "get");
  const data = dataSchema(shapes, changes ?? {});
  const add = (ending: string, definition: Definition | undefined): string | undefined => {
    if (definition === undefined) return undefined;
    named.add(`${type}${ending}`, definition);
    return `${type}${ending}`;
  };
  return {
    name,
    object: add("", stored && objectOf(shapes, stored)),
    create: add("Create", isCreated ? { schema: sent ?? true } : undefined),
    update: add("Update", changes && updateOf(data, changes)),
    patch: add("Patch", changes && patchOf(data, schemas)),
    filters: add("Filters", isObject(list) ? { schema: filtersOf(list, sent) } : undefined),
    sort: add("Sort", isObject(list) ? { schema: { enum: sortKeysOf(list) } } : undefined),
  };
}

/** The schemas of a resource in the document; undefined = no operation has it. */
interface Shapes {
  /** With which the names of its components begin. */
  readonly name: string;
  readonly sentName: string;
  readonly sent: Json | undefined;
  readonly isCreated: boolean;
  readonly stored: JsonObject | undefined;
  readonly changes: JsonObject | undefined;
  readonly schemas: JsonObject;
}

function shapesOf(resource: string, paths: JsonObject, schemas: JsonObject): Shapes {
  const [collection, single] = [at(paths, `/api/${resource}`), at(paths, `/api/${resource}/{id}`)];
  const storedName = componentIn(answerOf(single, "get", "200")) ?? componentIn(answerOf(collection, "post", "201"));
  const create = componentIn(bodyOf(collection, "post"));
  const name = storedName?.replace(/\.stored(-\d+)?$/, "") ?? create ?? resource;
  const sentName = create ?? name;
  const stored = at(schemas, storedName ?? "");
  const changes = at(schemas, componentIn(bodyOf(single, "put")) ?? "");
  return {
    name,
    sentName,
    sent: at(schemas, sentName),
    isCreated: create !== undefined,
    stored: isObject(stored) ? stored : undefined,
    changes: isObject(changes) ? changes : undefined,
    schemas,
  };
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

/** The data without `id` and `_metadata`: a reference to it, or what stands for it. */
function dataSchema(shapes: Shapes, changes: JsonObject): Json {
  const { sent, stored } = shapes;
  const { id: _, _metadata: __, ...properties } = membersOf(changes);
  if (isObject(sent) && isPlain(sent)) {
    const required = listOf(at(stored, "required")).filter((name) => name !== "id" && name !== "_metadata");
    const others = at(stored, "additionalProperties");
    return { type: "object", properties, required, ...(others !== undefined && { additionalProperties: others }) };
  }
  const data = dataOf(shapes);
  return data === undefined ? { type: "object", properties, additionalProperties: true } : { $ref: refTo(data) };
}

/** Some of the members: of the choice that the object is where there are several. */
function updateOf(data: Json, changes: JsonObject): Definition {
  const { id: _, _metadata: __, ...properties } = membersOf(changes);
  const described = { type: "object", description: changes.description ?? "", properties };
  const reference = at(data, "$ref");
  if (typeof reference === "string")
    return { schema: { ...described, additionalProperties: true }, partialOf: reference };
  const others = at(data, "additionalProperties");
  return { schema: { ...described, ...(others !== undefined && { additionalProperties: others }) } };
}

/** Of a merge patch. */
function patchOf(data: Json, schemas: JsonObject): Definition {
  const component = componentIn(data);
  const whole = component === undefined ? data : (at(schemas, component) ?? true);
  const patch = mergePatchSchema(whole, { patchRef, isChoice: false });
  return { schema: isObject(patch) ? { ...patch, description: patchDescription } : patch };
}

const patchDescription = "A merge patch (RFC 7396): members to set, at any depth; null removes one.";

/** Whether it says of members without a name what they are, or that there are none at all. */
function hasIndex(schema: Json, schemas: JsonObject, seen: ReadonlySet<string> = new Set()): boolean {
  if (!isObject(schema)) return false;
  const { additionalProperties: others, patternProperties } = schema;
  if (isObject(others) || isObject(patternProperties)) return true;
  if (others === false && Object.keys(membersOf(schema)).length === 0) return true;
  const { $ref } = schema;
  const parts = ["allOf", "anyOf", "oneOf"].flatMap((keyword) => listOf(schema[keyword]));
  if (typeof $ref === "string" && !seen.has($ref)) parts.push(at(schemas, componentIn(schema) ?? "") ?? true);
  const further = typeof $ref === "string" ? new Set([...seen, $ref]) : seen;
  return parts.some((part) => hasIndex(part, schemas, further));
}

/** They page and shape a list, and filter nothing. */
const notFilters = new Set([
  ...["_limit", "_offset", "_cursor", "_sort", "_fields"],
  ...["_count", "_count_by", "_etags", "_valid"],
]);

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
  const field = filter.replace(/:(?:ne|in)$/, "");
  const schema =
    at(membersOf(sent), field) ?? field.split(".").reduce((within, name) => at(membersOf(within), name), sent);
  if (!isObject(schema)) return undefined;
  const types = [schema.type ?? []].flat() as readonly Json[];
  if (types.some((type) => type === "object" || type === "array")) return undefined;
  const said = Object.entries(schema).filter(([keyword]) => ["type", "enum", "const"].includes(keyword));
  if (said.length === 0) return undefined;
  const one = Object.fromEntries(said);
  // As in the URL, or a list that the client joins.
  return filter === `${field}:in` ? { anyOf: [{ type: "string" }, { type: "array", items: one }] } : one;
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
