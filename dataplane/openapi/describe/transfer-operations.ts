// Exports and imports: their operations and query parameters.

import type { JsonObject } from "../../../core/config/types.ts";
import { exportMediaType } from "../../../core/transfer/lines.ts";
import type { OperationEntry } from "./operations.ts";

export const exportOperations: readonly OperationEntry[] = [
  {
    method: "get",
    name: "export",
    summary: "Take everything that is stored along, as one file",
    description:
      "One JSON object a line: a head, objects and values as they are stored, and an end with a checksum. A file without its end is incomplete.",
    operation: "read",
    queries: "export",
    answers: [{ status: 200, description: "The file.", shape: "Export", type: exportMediaType }],
    problems: ["fields", "positions", "storedData"],
  },
];

export const importOperations: readonly OperationEntry[] = [
  {
    method: "post",
    name: "import",
    summary: "Store lines of an export: a whole file, or a part of one",
    description:
      "Each line is stored whole, with its id and `_metadata`, or refused by its number. To repeat it changes nothing.",
    operation: "create",
    queries: "import",
    body: { [exportMediaType]: "Export" },
    answers: [{ status: 200, description: "What became of the lines.", shape: "Imported" }],
    problems: ["fields", "storedData", "write", "writeConflict"],
  },
];

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

export const importParameters: readonly JsonObject[] = [
  parameter(
    "_mode",
    "`create` overwrites nothing; `replace` makes what is stored the same as the lines, deletions too.",
    { enum: ["create", "replace"], default: "create" },
  ),
  parameter("_dryRun", "Checks the lines, and writes nothing.", { type: "boolean", default: false }),
];

function parameter(name: string, description: string, schema: JsonObject): JsonObject {
  return { name, in: "query", description, schema };
}
