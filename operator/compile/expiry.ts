// Turns `spec.expiry` of an ApiResource into its configuration. Refuses a field in which the schema
// allows anything but a time.

import { durationSeconds } from "../../core/config/duration.ts";
import type { ExpiryConfig } from "../../core/config/types.ts";
import { type CheckedSchema, resolveField } from "../../core/schema/compile-schema.ts";
import type { DeclaredProperty } from "../../core/schema/declared-properties.ts";
import type { ApiResource } from "../model/objects.ts";
import { type Result, refuse } from "../model/verdict.ts";

const wanted = "a string with format date-time, or an integer of Unix seconds";

export function compileExpiry(
  schema: CheckedSchema,
  expiry: ApiResource["spec"]["expiry"],
): Result<{ readonly expiry?: ExpiryConfig }> {
  if (expiry === undefined) return { ok: true, value: {} };
  const { field: name, after } = expiry;
  if (name === undefined) return compileAfter(after ?? "");
  const field = resolveField(schema, name);
  if (field === undefined) {
    return refuse("InvalidSpec", `The schema declares no "${name}": declare it as ${wanted}`, "/spec/expiry/field");
  }
  if (!isTime(field)) {
    const found = `The schema declares "${name}" as ${typesOf(field)}`;
    return refuse("InvalidSpec", `${found}: declare it as ${wanted}`, "/spec/expiry/field");
  }
  return { ok: true, value: { expiry: { field: { name, path: field.path } } } };
}

function compileAfter(after: string): Result<{ readonly expiry: ExpiryConfig }> {
  const afterSeconds = durationSeconds(after);
  return afterSeconds === undefined
    ? refuse("InvalidSpec", `"${after}" is not a duration such as 24h or 720h`, "/spec/expiry/after")
    : { ok: true, value: { expiry: { afterSeconds } } };
}

/** Null next to it means never. */
function isTime({ types, format }: DeclaredProperty): boolean {
  const [type, ...others] = types.filter((each) => each !== "null");
  if (others.length > 0) return false;
  return type === "integer" || type === "number" || (type === "string" && format === "date-time");
}

function typesOf({ types, format }: DeclaredProperty): string {
  if (types.length === 0) return "any value";
  return types.map((type) => (type === "string" && format ? `string with format ${format}` : type)).join(" or ");
}
