// Distinguishes JSON objects and arrays from other values: `typeof` is "object" for arrays and
// null, too.

import type { Json, JsonObject } from "../config/types.ts";

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** As Array.isArray, which does not narrow readonly arrays. */
export function isArray(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}
