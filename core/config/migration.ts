// The JSON Patch of `schemaChange.migrate`, which stored objects go through that don't meet a new
// schema.

import { canonicalJson } from "../json/canonical.ts";
import { PatchRefusal } from "../json/patch-refusal.ts";
import { type Operation, readJsonPatch } from "../json/read-json-patch.ts";
import type { JsonObject } from "./types.ts";

/** Values in it nest below an array and an operation. */
const maxDepth = 66;
const serviceMembers: readonly (string | undefined)[] = ["id", "_metadata"];

/** Throws PatchRefusal `invalid_patch`, also where the patch would change what the service owns. */
export function readMigration(patch: readonly JsonObject[]): readonly Operation[] {
  const read = canonicalJson(JSON.stringify(patch), maxDepth);
  if (!read.ok) throw new PatchRefusal("invalid_patch", `Is no JSON that can be stored: ${read.error.code}`);
  const operations = readJsonPatch(read.json.text);
  operations.forEach((operation, at) => {
    const isTaken = operation.op === "move" && serviceMembers.includes(operation.from[0]);
    const isWritten = operation.op !== "test" && serviceMembers.includes(operation.path[0]);
    if (!isTaken && !isWritten) return;
    const message = "id and _metadata can't be changed; test and copy may read them";
    throw new PatchRefusal("invalid_patch", message, `/${at}/${isTaken ? "from" : "path"}`);
  });
  return operations;
}
