// The query parameters of an export.

import type { JsonObject } from "../../../core/config/types.ts";

const text = { type: "string" } as const;
const texts = { type: "array", items: text } as const;

export const exportParameters: readonly JsonObject[] = [
  parameter("_resource", "Resources to export; may be repeated. Without any name, all are exported.", texts),
  parameter("_rootKey", "Root keys to export; may be repeated.", texts),
  parameter("_owner", "Whose objects, as `<creator_type>:<creator>` of `_metadata`, such as `user:alice`.", text),
  parameter("_since", "Only what has changed behind this `position`, which an export has in its last line.", text),
  parameter("_after", "The rest of an export that broke off behind this object, `<resource>/<id>`.", text),
  parameter("_position", "With `_after`: the `position` in the first line of the export that broke off.", text),
];

function parameter(name: string, description: string, schema: JsonObject): JsonObject {
  return { name, in: "query", description, schema };
}
