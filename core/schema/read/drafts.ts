// The drafts of JSON Schema that a schema can name, and which keywords each has. Refuses other
// drafts.

import type { Json, JsonObject } from "../../config/types.ts";
import type { SchemaReport } from "./report.ts";
import type { Dialect } from "./schema-tree.ts";

/** Oldest first. */
const drafts = ["draft-04", "draft-06", "draft-07", "2020-12"] as const satisfies readonly Dialect[];

/** The first draft that has a keyword, where it isn't the oldest. */
const firstDrafts: ReadonlyMap<string, Dialect> = new Map<string, Dialect>([
  ["const", "draft-06"],
  ["contains", "draft-06"],
  ["propertyNames", "draft-06"],
  ["$id", "draft-06"],
  ["if", "draft-07"],
  ["then", "draft-07"],
  ["else", "draft-07"],
  ["prefixItems", "2020-12"],
  ["dependentRequired", "2020-12"],
  ["dependentSchemas", "2020-12"],
  ["unevaluatedItems", "2020-12"],
  ["unevaluatedProperties", "2020-12"],
  ["minContains", "2020-12"],
  ["maxContains", "2020-12"],
  ["$anchor", "2020-12"],
  ["$dynamicAnchor", "2020-12"],
  ["$dynamicRef", "2020-12"],
]);

/** The last draft that has a keyword, where it isn't the newest. */
const lastDrafts: ReadonlyMap<string, Dialect> = new Map<string, Dialect>([
  ["id", "draft-04"],
  ["additionalItems", "draft-07"],
  ["dependencies", "draft-07"],
]);

/** Undefined where all drafts have the keyword. */
export function firstDraftOf(keyword: string): Dialect | undefined {
  return firstDrafts.get(keyword);
}

export const keywordsOfOlderDrafts: readonly string[] = [...lastDrafts.keys()];

/** False for keywords that only other drafts have. */
export function isOfDialect(keyword: string, dialect: Dialect): boolean {
  return !isLater(firstDrafts.get(keyword), dialect) && !isLater(dialect, lastDrafts.get(keyword));
}

export function isLater(draft: Dialect | undefined, than: Dialect | undefined): boolean {
  return draft !== undefined && than !== undefined && drafts.indexOf(draft) > drafts.indexOf(than);
}

const namedDrafts: ReadonlyMap<string, Dialect> = new Map<string, Dialect>([
  ["https://json-schema.org/draft/2020-12/schema", "2020-12"],
  ...(["draft-04", "draft-06", "draft-07"] as const).map((draft): [string, Dialect] => [
    `http://json-schema.org/${draft}/schema`,
    draft,
  ]),
]);

/** Undefined for a draft that is not known. */
export function draftNamed(schemaUri: Json | undefined): Dialect | undefined {
  if (typeof schemaUri !== "string") return undefined;
  return namedDrafts.get(schemaUri.replace(/#$/u, "").replace(/^https:(?=.*\/draft-0)/u, "http:"));
}

/** The draft of `$schema`, 2020-12 by default; undefined, and reported, for any other. */
export function dialectOf(schema: JsonObject, report: SchemaReport): Dialect | undefined {
  if (!Object.hasOwn(schema, "$schema")) return "2020-12";
  const dialect = draftNamed(schema.$schema);
  if (dialect === undefined) {
    report.problem(
      "/$schema",
      "Write https://json-schema.org/draft/2020-12/schema, or http://json-schema.org/draft-07/schema# (draft-06 and draft-04 likewise); leave it out for 2020-12",
    );
  }
  return dialect;
}
