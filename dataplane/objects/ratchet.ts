// Whether an update adds no failure to those that the stored object has, as the validation
// ratcheting of Kubernetes: otherwise a schema that became stricter would refuse every edit of an
// older object. What can't be told is refused.

import type { ProblemItem } from "../../core/errors/problem.ts";
import { segmentsOf } from "../../core/json/json-pointer.ts";
import { kindOf, valueAt } from "../../core/json/members.ts";
import { parseJson } from "../../core/json/parse-json.ts";
import { readAt } from "../../core/json/splice.ts";
import type { CompiledSchema } from "../../core/schema/compile-schema.ts";
import type { Validation } from "../../core/schema/validate/compile-validator.ts";

/** Characters that may be read to compare values: some 50 ms. */
const maxWork = 16 * 1024 * 1024;

/** `validation` is that of `after`, which is not valid. */
export function addsNoFailure(schema: CompiledSchema, validation: Validation, after: string, before: string): boolean {
  const { failures, areAll } = validation;
  if (!areAll || failures.length * (after.length + before.length) > maxWork) return false;
  if (!failures.every(({ pointer }) => isUnchanged(before, after, pointer))) return false;
  const stood = Map.groupBy(schema.validate(parseJson(before), before), keyOf);
  const stay = Map.groupBy(failures, keyOf);
  return [...stay].every(([key, items]) => items.length <= (stood.get(key)?.length ?? 0));
}

/** Equal for failures of one value that break the same rule in the same way. */
function keyOf({ pointer, keyword, message }: ProblemItem): string {
  return JSON.stringify([pointer, keyword, message]);
}

/**
 * Whether the value that failed is the same in both texts, or missing in both. An item of an array
 * has to be the same as a whole: others may have taken its index.
 */
function isUnchanged(before: string, after: string, pointer: string): boolean {
  let [one, other] = [before, after];
  for (const name of segmentsOf(pointer)) {
    const isItem = kindOf(one) === "array" || kindOf(other) === "array";
    const [left, right] = [childOf(one, name), childOf(other, name)];
    if (isItem || left === undefined || right === undefined) return left === right;
    [one, other] = [left, right];
  }
  return one === other;
}

function childOf(text: string, name: string): string | undefined {
  if (kindOf(text) !== "array") return valueAt(text, [name]);
  const found = readAt(text, [name]);
  return found.outcome === "found" ? found.text : undefined;
}
