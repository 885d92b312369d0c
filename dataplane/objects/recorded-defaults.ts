// The defaults that a POST with an Idempotency-Key filled in, as a part of its record: until it is
// repeated, the schema may change.

import type { CanonicalJson } from "../../core/json/canonical.ts";
import type { Insertion } from "../../core/schema/defaults/filling.ts";
import { missingDefaults, type ObjectRules } from "./validate-object.ts";

/** Characters: a record counts for no quota, and array items may have a million defaults. */
const maxRecorded = 4096;
const notRecorded = "-";

/** Without spaces; none where nothing was filled in. */
export function recordedDefaults(rules: ObjectRules, body: CanonicalJson): readonly string[] {
  const insertions = missingDefaults(rules, body);
  if (insertions.length === 0) return [];
  // Each takes more than one character.
  if (insertions.length > maxRecorded) return [notRecorded];
  const recorded = Buffer.from(JSON.stringify(insertions)).toString("base64url");
  return [recorded.length > maxRecorded ? notRecorded : recorded];
}

/** Those of the first time; of what was too long to record, those of now. */
export function recalledDefaults(
  recorded: string | undefined,
  rules: ObjectRules,
  body: CanonicalJson,
): readonly Insertion[] {
  if (recorded === undefined) return [];
  if (recorded === notRecorded) return missingDefaults(rules, body);
  return JSON.parse(Buffer.from(recorded, "base64url").toString()) as Insertion[];
}
