import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../../core/config/types.ts";
import { compileSchema } from "../../../../../core/schema/compile-schema.ts";
import { validateList } from "../../../../../dataplane/objects/list/query.ts";
import { project } from "../../../../support/http/projects.ts";

const result = compileSchema({
  properties: {
    due: { type: "string", format: "date" },
    at: { type: ["string", "null"], allOf: [{ format: "date-time" }] },
    text: { type: "string" },
    loose: { format: "date" },
  },
} as JsonObject);
if (!result.ok) throw new Error(JSON.stringify(result.problems));
const { schema } = result;
const { project: config } = project("p");
const read = (query: string) => validateList(query, schema, config);

describe("a filter on dates", () => {
  it.each([
    "due=2026-01-31",
    "due:ge=2026",
    "due:lt=2026-02",
    "due:in=2026-01-31,2026-02-01",
    "due:starts=202",
    "due:exists=true",
    "at=2026-01-31T09:00:00Z",
    "at=2026-01-31T09:00:00%2B02:00",
    "at=null",
    "at:ne=null",
    "at:gt=2026-01-31",
    "at:gt=2026-01-31T09:00",
    "at:gt=2026-01-31T09:00:00.5",
    "at:le=2026-01-31T09:00:00.5Z",
    "text:gt=yesterday",
    "loose=yesterday",
  ])("takes %s", (query) => {
    expect(read(query).filters).toHaveLength(1);
  });

  it.each([
    ["due=yesterday", "`due` must be a date, as in `2026-01-31`"],
    ["due=2026-02-30", "`due` must be a date, as in `2026-01-31`"],
    ["due=2026-01", "`due` must be a date, as in `2026-01-31`"],
    ["due=null", "`due` must be a date, as in `2026-01-31`; `due:exists=false` finds objects without it"],
    ["due:in=2026-01-31,", "`due` must be a date, as in `2026-01-31`"],
    ["due:ge=31.1.2026", "`due:ge` must be a date, as in `2026-01-31`, or its beginning, as in `2026-01`"],
    ["due:ge=2026-1-5", "`due:ge` must be a date, as in `2026-01-31`, or its beginning, as in `2026-01`"],
    ["due:ge=2026-1", "`due:ge` must be a date, as in `2026-01-31`, or its beginning, as in `2026-01`"],
    ["due:ge=2026-", "`due:ge` must be a date, as in `2026-01-31`, or its beginning, as in `2026-01`"],
    ["due:lt=", "`due:lt` must be a date, as in `2026-01-31`, or its beginning, as in `2026-01`"],
    ["due:lt=2026-13", "`due:lt` must be a date, as in `2026-01-31`, or its beginning, as in `2026-01`"],
    // A plus sign that is not encoded is a space.
    [
      "at:ge=2026-01-31T09:00:00+02:00",
      "`at:ge` must be a date-time, as in `2026-01-31T09:00:00Z`, or its beginning, as in `2026-01`; in a query, `%2B` is a plus sign",
    ],
    [
      `at=${"2".repeat(5000)}`,
      "`at` must be a date-time, as in `2026-01-31T09:00:00Z`; in a query, `%2B` is a plus sign",
    ],
  ])("refuses %s", (query, message) => {
    expect(() => read(query)).toThrow(expect.objectContaining({ code: "invalid_parameter", message }));
  });
});
