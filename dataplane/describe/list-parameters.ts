// The query parameters of a list, each one entry: paging, sorting, and a filter for each declared property that has a value to compare.

import type { JsonObject, ProjectLimits } from "../../core/config/types.ts";
import type { DeclaredProperty, JsonType } from "../../core/schema/compile-schema.ts";
import type { LiveResource } from "../config/directory.ts";

/** More declared properties than these can be filtered by as well; a description of each would hide the rest. */
const mostFilters = 100;

export function listParameters(resource: LiveResource, limits: ProjectLimits): readonly JsonObject[] {
  return [limit(limits), offset, sort(resource), ...filters(resource)];
}

function limit({ maxPageSize }: ProjectLimits): JsonObject {
  return query("_limit", "How many objects a page has at most.", {
    type: "integer",
    minimum: 1,
    maximum: maxPageSize,
    default: 10,
  });
}

const offset = query("_offset", "How many objects to skip.", { type: "integer", minimum: 0, default: 0 });

function sort({ config }: LiveResource): JsonObject {
  const names = config.indexes.map(({ name }) => `\`${name}\``).join(", ");
  const indexed = names === "" ? "No field is indexed." : `Indexed, so cheap at any size: ${names}.`;
  const first = config.indexes[0]?.name ?? "id";
  return query(
    "_sort",
    `A field to sort by; with a leading \`-\`, descending. ${indexed} By default in order of creation.`,
    {
      type: "string",
      minLength: 1,
      examples: [first, `-${first}`],
    },
  );
}

function filters({ schema, config }: LiveResource): readonly JsonObject[] {
  const indexed = new Set(config.indexes.map(({ name }) => name));
  // A bare `_` is what caches are got past with, and ignored.
  const filtered = [...schema.properties.values()].filter(
    (property) => property.name !== "_" && isComparable(property),
  );
  return filtered.slice(0, mostFilters).map((property) => {
    const how = indexed.has(property.name) ? "" : " Not indexed: for small collections.";
    return query(
      property.name,
      `Only objects of which \`${property.name}\` equals this.${how}`,
      valueSchema(property.types),
    );
  });
}

const scalars: readonly JsonType[] = ["string", "number", "integer", "boolean", "null"];

function isComparable({ types }: DeclaredProperty): boolean {
  const [only, ...others] = types;
  return only === undefined || others.length > 0 || scalars.includes(only);
}

function valueSchema(types: readonly JsonType[]): JsonObject {
  const [only, ...others] = types;
  if (only === undefined || others.length > 0) return { type: ["string", "number", "boolean"] };
  return only === "null" ? { type: "string", const: "null" } : { type: only };
}

function query(name: string, description: string, schema: JsonObject): JsonObject {
  return { name, in: "query", description, schema };
}
