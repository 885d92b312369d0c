// The query parameters of a list: paging, sorting, and a filter for each declared property with
// comparable values. Without examples, which viewers would send.

import type { JsonObject, ProjectLimits } from "../../../core/config/types.ts";
import {
  type OperandKind,
  type Operator,
  operandKind,
  operatorsFor,
  phraseOf,
} from "../../../core/filter-operators.ts";
import type { DeclaredProperty, JsonType } from "../../../core/schema/declared-properties.ts";
import type { LiveResource } from "../../config/directory.ts";

/** Further properties can be filtered by too; describing each would hide the rest. */
const maxFilters = 100;

export function listParameters(resource: LiveResource, limits: ProjectLimits): readonly JsonObject[] {
  return [
    limit(limits),
    offset,
    cursor,
    sort(resource),
    fieldsParameter,
    count,
    ...etags(resource),
    ...valid(resource),
    ...any(resource),
    ...countBy(resource),
    ...filters(resource),
  ];
}

function limit({ maxPageSize }: ProjectLimits): JsonObject {
  return query("_limit", "Maximum number of objects on a page.", {
    type: "integer",
    minimum: 1,
    maximum: maxPageSize,
    default: 10,
  });
}

const offset = query("_offset", "Number of objects to skip; not together with `_cursor`.", {
  type: "integer",
  minimum: 0,
});

const cursor = query(
  "_cursor",
  "Empty to begin; then follow `links.next`. Each object that is not changed meanwhile appears exactly once.",
  { type: "string" },
);

/** What is chosen has fewer members than the schemas of answers say. */
export const fieldsParameter = query(
  "_fields",
  "Names of fields, separated by commas. Objects then have only these and `id`, also if the schema requires others.",
  { type: "string", minLength: 1 },
);

const count = query("_count", "`false` leaves out `count`, which saves work.", { type: "boolean" });

/** Not where a property has the name, which filters then. */
function etags({ schema }: LiveResource): readonly JsonObject[] {
  if (schema.properties.has("_etags")) return [];
  return [query("_etags", "`true` shows the tag of each object too, for `If-Match`.", { type: "boolean" })];
}

/** Likewise. */
function valid({ schema }: LiveResource): readonly JsonObject[] {
  if (schema.properties.has("_valid")) return [];
  const description = `\`false\`: only objects that don't meet the schema, which was another one when they were stored; for administrators. ${readsEach}.`;
  return [query("_valid", description, { type: "boolean" })];
}

/** Likewise. */
function any({ schema }: LiveResource): readonly JsonObject[] {
  if (schema.properties.has("_any")) return [];
  const description =
    "Only objects that match at least one of these filters, which commas separate: `status:open,price:lt=5`. `\\,` is a comma of a value, `\\\\` a backslash.";
  return [query("_any", description, { type: "string", minLength: 1 })];
}

/** Likewise. */
function countBy({ schema }: LiveResource): readonly JsonObject[] {
  if (schema.properties.has("_count_by")) return [];
  const description =
    "Counts objects by the values of this field instead of listing them: see `counts` of the answer. Cheap at any size where the field is indexed. 500 values at most. Not together with parameters of pages.";
  return [query("_count_by", description, { type: "string", minLength: 1 })];
}

/** For programs such as the console: the names of all indexes, as `_sort` takes them. */
const indexesExtension = "x-jsonplane-indexes";

function sort({ config }: LiveResource): JsonObject {
  const names = config.indexes.map(({ name }) => `\`${name}\``).join(", ");
  const indexed = names === "" ? "No field is indexed." : `Indexed, and therefore cheap at any size: ${names}.`;
  const first = config.indexes[0]?.name ?? "id";
  const description = `Up to four fields, separated by commas; a leading \`-\` sorts descending: \`${first}\`, \`-${first}\`. ${indexed} The default is the order of creation.`;
  const parameter = query("_sort", description, { type: "string", minLength: 1 });
  return { ...parameter, [indexesExtension]: config.indexes.map(({ name }) => name) };
}

function filters({ schema, config }: LiveResource): readonly JsonObject[] {
  const indexed = new Set(config.indexes.map(({ name }) => name));
  // A bare `_` is what caches are got past with, and ignored.
  const declared = [...schema.properties.values()].filter(({ name }) => name !== "_");
  const compared = declared.filter(isComparable);
  const equal = compared.map((property) => equalTo(property, indexed.has(property.name)));
  const others = [
    ...compared.filter(({ name }) => indexed.has(name)).flatMap(withOperators),
    ...declared
      .filter((property) => !isComparable(property) && property.types.includes("array"))
      .map((property) => comparing(property, "contains")),
  ];
  // A property named like another one with an operator takes precedence over that filter.
  const isFree = ({ name }: JsonObject): boolean => !schema.properties.has(String(name));
  return [...ofMetadata.filter(isFree), ...[...equal, ...others.filter(isFree)].slice(0, maxFilters)];
}

function equalTo({ name, types }: DeclaredProperty, isIndexed: boolean): JsonObject {
  const hint = isIndexed ? "" : " Not indexed: for small collections only. Operators, as in `field:ge`, work too.";
  return query(name, `Only objects whose \`${name}\` equals this value.${hint}`, valueSchema(types));
}

/** All operators but equality, of an indexed field. */
function withOperators(property: DeclaredProperty): readonly JsonObject[] {
  return operatorsFor(property.types)
    .filter((operator) => operator !== "eq")
    .map((operator) => comparing(property, operator));
}

function comparing({ name, types }: DeclaredProperty, operator: Operator): JsonObject {
  // No index finds what contains a value.
  const hint = operator === "contains" ? ` ${readsEach}, or together with a filter on an indexed field.` : "";
  const description = `Only objects whose \`${name}\` ${phraseOf(operator, types)}.${hint}`;
  return query(`${name}:${operator}`, description, schemaOf(operandKind(operator), types));
}

const readsEach = "It reads each candidate: for small collections";

function schemaOf(value: OperandKind, types: readonly JsonType[]): JsonObject {
  switch (value) {
    case "equal":
      return valueSchema(types);
    case "range":
      return valueSchema(types.map((type) => (type === "integer" ? "number" : type)));
    case "boolean":
      return { type: "boolean" };
    default:
      return { type: "string" };
  }
}

/** Filters on what the server says of an object. */
const ofMetadata: readonly JsonObject[] = [
  ...operatorsFor(["integer"])
    .filter((operator) => operandKind(operator) === "range")
    .map((operator) =>
      query(
        `_metadata.created:${operator}`,
        `Only objects whose time of creation, in Unix seconds, ${phraseOf(operator, ["integer"])}.`,
        { type: "integer" },
      ),
    ),
  query("_metadata.creator", `Only objects of this creator. ${readsEach}.`, { type: "string" }),
];

function isComparable({ types }: DeclaredProperty): boolean {
  return operatorsFor(types).includes("eq");
}

export function valueSchema(types: readonly JsonType[]): JsonObject {
  const [only, ...others] = types;
  if (only === undefined || others.length > 0) return { type: ["string", "number", "boolean"] };
  return only === "null" ? { type: "string", const: "null" } : { type: only };
}

export function query(name: string, description: string, schema: JsonObject): JsonObject {
  return { name, in: "query", description, schema };
}
