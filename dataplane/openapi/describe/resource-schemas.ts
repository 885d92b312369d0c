// Turns a resource's schema into those of its bodies and responses: what is sent, what comes back
// with `id` and `_metadata`, what an update may name, a page of a list. Where the schema can't be
// extended safely, the response's schema says less.

import type { Json, JsonObject } from "../../../core/config/types.ts";
import { valueAtPointer } from "../../../core/json/json-pointer.ts";
import { isObject } from "../../../core/json/json-value.ts";
import type { Defaults } from "../../../core/schema/defaults/compile-defaults.ts";
import { portableSchema, type ShownDefaults } from "../../../core/schema/portable-schema.ts";
import type { LiveResource } from "../../config/directory.ts";
import { type Components, refTo } from "./components.ts";

interface ResourceSchemas {
  /** References. */
  readonly sent: JsonObject;
  readonly changes: JsonObject;
  readonly stored: JsonObject;
  readonly page: JsonObject;
}

export function addResourceSchemas(components: Components, { config, defaults }: LiveResource): ResourceSchemas {
  const { name, schema } = config;
  const areFilled = defaults !== undefined;
  const sent = components.reserve("schemas", name);
  const isShorter = areFilled && leavesOut(schema, defaults.optional);
  if (isShorter) addData(components, schema, { root: sent, prefix: name, suffix: ".sent" }, { areFilled, ...defaults });
  const whole = isShorter ? components.reserve("schemas", `${name}.data`) : sent;
  const data = addData(components, schema, { root: whole, prefix: name, suffix: "" }, { areFilled });
  const stored = components.add("schemas", `${name}.stored`, storedSchema(data, whole, components));
  return {
    sent: refTo("schemas", sent),
    changes: components.add("schemas", `${name}.changes`, changesSchema(data)),
    stored,
    page: components.add("schemas", `${name}.page`, pageSchema(stored)),
  };
}

/** Whether a required member may be missing in what is sent, because it is filled in. */
function leavesOut(schema: JsonObject, optional: Defaults["optional"]): boolean {
  return [...optional].some(([pointer, names]) => {
    const given = valueAtPointer(schema, pointer);
    const required = isObject(given) ? given.required : undefined;
    return Array.isArray(required) && required.some((name) => names.has(name));
  });
}

/** Adds the schema under a reserved name, and its definitions. */
function addData(
  components: Components,
  schema: JsonObject,
  names: { readonly root: string; readonly prefix: string; readonly suffix: string },
  defaults: ShownDefaults,
): JsonObject {
  const nameOf = (pointer: string): string => {
    if (pointer === "") return names.root;
    return components.reserve(
      "schemas",
      `${names.prefix}.${pointer.slice(pointer.lastIndexOf("/") + 1)}${names.suffix}`,
    );
  };
  const refTo = (definition: string): string => `#/components/schemas/${definition}`;
  const { root, definitions } = portableSchema(schema, { nameOf, refTo }, defaults);
  for (const [definition, content] of definitions) components.put("schemas", definition, usable(content));
  const data = usable(root) as JsonObject;
  components.put("schemas", names.root, data);
  return data;
}

const owned = { id: { $ref: "#/components/schemas/Id" }, _metadata: { $ref: "#/components/schemas/Metadata" } };

/** Generators take an object schema without members for an empty object. */
function usable(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(usable);
  if (!isObject(schema)) return schema;
  const same = Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, withSchemas(keyword, value)]),
  );
  const says = ["properties", "additionalProperties", "patternProperties", "unevaluatedProperties", "$ref", "allOf"];
  if (schema.type !== "object" || says.some((keyword) => Object.hasOwn(schema, keyword))) return same;
  return { ...same, additionalProperties: true };
}

const ofSchemas = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const ofNamed = new Set(["properties", "patternProperties", "dependentSchemas"]);
const ofOne = new Set(["items", "contains", "additionalProperties", "unevaluatedItems", "unevaluatedProperties"]);

function withSchemas(keyword: string, value: Json): Json {
  if (ofSchemas.has(keyword) || ofOne.has(keyword)) return usable(value);
  if (!ofNamed.has(keyword) || !isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, usable(member)]));
}

/** Keywords with which members can be added to an object's schema. */
const plain = new Set(
  ["type", "properties", "required", "additionalProperties", "unevaluatedProperties", "dependentRequired"].concat([
    "minProperties",
    "maxProperties",
    "title",
    "description",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
  ]),
);

function storedSchema(data: JsonObject, sent: string, components: Components): JsonObject {
  const own = { type: "object", properties: owned, required: ["id", "_metadata"] };
  if (isPlain(data)) {
    const { examples: _, "x-default": __, minProperties, maxProperties, ...rest } = data;
    return {
      ...rest,
      type: "object",
      properties: { id: owned.id, ...membersOf(data), _metadata: owned._metadata },
      required: ["id", ...(Array.isArray(data.required) ? (data.required as readonly Json[]) : []), "_metadata"],
      ...(typeof minProperties === "number" && { minProperties: minProperties + 2 }),
      ...(typeof maxProperties === "number" && { maxProperties: maxProperties + 2 }),
    };
  }
  if (isOpen(data, components, new Set())) return { allOf: [refTo("schemas", sent), own] };
  return { ...own, ...described(data), properties: { ...owned, ...membersOf(data) } };
}

/** An update names what it changes; the merged object is what the schema validates. */
function changesSchema(data: JsonObject): JsonObject {
  const closed = isPlain(data) && data.additionalProperties !== undefined;
  return {
    type: "object",
    description:
      "The fields to change. The others keep their values, and the whole object must match the resource's schema.",
    properties: { ...membersOf(data), ...owned },
    additionalProperties: closed ? (data.additionalProperties ?? true) : true,
  };
}

function pageSchema(stored: JsonObject): JsonObject {
  return {
    type: "object",
    required: ["items", "links"],
    properties: {
      count: {
        type: "integer",
        minimum: 0,
        description: "Number of objects that match the query, on all pages together; absent with `_count=false`.",
      },
      items: { type: "array", items: stored },
      etags: {
        type: "object",
        additionalProperties: { type: "string" },
        description: "The tag of each object, by its id, for `If-Match`; only with `_etags=true`.",
      },
      counts: {
        type: "array",
        items: {
          type: "object",
          required: ["count"],
          properties: {
            value: { type: ["string", "number", "boolean", "null"], description: "Null for a missing field, too." },
            count: { type: "integer", minimum: 1 },
          },
        },
        description:
          "How many objects have each value, ascending; only with `_count_by`, and then there are no `items`. What has no `value` is an array, an object or a long string.",
      },
      links: { $ref: "#/components/schemas/Links" },
    },
  };
}

/** Whether `id` and `_metadata` can be added to it: then what is stored is one object. */
export function isPlain(schema: JsonObject): boolean {
  return Object.keys(schema).every((keyword) => plain.has(keyword) || keyword.startsWith("x-"));
}

/** Keywords by which a schema may refuse members that are added to an object. */
const closing = [
  ...["additionalProperties", "unevaluatedProperties", "propertyNames", "patternProperties", "const", "enum"],
  ...["maxProperties", "minProperties", "not"],
];

/** True when nothing that applies to the object itself can mind two more members. */
function isOpen(schema: Json, components: Components, seen: Set<string>): boolean {
  if (!isObject(schema)) return true;
  if (closing.some((keyword) => Object.hasOwn(schema, keyword) && schema[keyword] !== true)) return false;
  const { $ref } = schema;
  if (typeof $ref === "string" && !seen.has($ref)) {
    seen.add($ref);
    const target = components.get("schemas", $ref.slice($ref.lastIndexOf("/") + 1));
    if (target !== undefined && !isOpen(target, components, seen)) return false;
  }
  const inPlace = ["allOf", "anyOf", "oneOf", "if", "then", "else"].flatMap((keyword) => schema[keyword] ?? []);
  const dependent = isObject(schema.dependentSchemas) ? Object.values(schema.dependentSchemas) : [];
  return [...(inPlace as readonly Json[]), ...dependent].every((part) => isOpen(part, components, seen));
}

function membersOf({ properties }: JsonObject): JsonObject {
  return isObject(properties) ? properties : {};
}

function described({ title, description }: JsonObject): JsonObject {
  return { ...(title !== undefined && { title }), ...(description !== undefined && { description }) };
}
