import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { sampleObject } from "../../../../core/schema/sample-object.ts";
import { draft04 } from "./compiled.ts";

describe("sampleObject", () => {
  it.each([
    ["the schema's own example", { type: "object", examples: [{ a: 1 }] }, { a: 1 }],
    ["a default", { type: "object", required: ["a"], properties: { a: { type: "number", default: 5 } } }, { a: 5 }],
    ["the first of an enum", { type: "object", required: ["a"], properties: { a: { enum: ["x", "y"] } } }, { a: "x" }],
    ["a member where none is required", { type: "object", properties: { done: { type: "boolean" } } }, { done: true }],
    ["nothing where nothing is declared", { type: "object" }, {}],
    ["bounds", { required: ["a"], properties: { a: { type: "integer", exclusiveMinimum: 2.5 } } }, { a: 4 }],
    [
      "a bound that draft-04 excludes",
      { $schema: draft04, required: ["a"], properties: { a: { type: "integer", minimum: 2, exclusiveMinimum: true } } },
      { a: 3 },
    ],
    [
      "references and lists",
      {
        type: "object",
        required: ["lines"],
        properties: { lines: { type: "array", minItems: 1, items: { $ref: "#/$defs/line" } } },
        $defs: { line: { type: "object", required: ["day"], properties: { day: { type: "string", format: "date" } } } },
      },
      { lines: [{ day: "2026-01-31" }] },
    ],
  ])("uses %s", (_, schema, sample) => {
    expect(JSON.parse(sampleObject(schema) ?? "null")).toEqual(sample);
  });

  it.each([
    [
      "a pattern that no plain text matches",
      { required: ["a"], properties: { a: { type: "string", pattern: "^[0-9]{9}$" } } },
    ],
    ["an example that is wrong", { type: "object", required: ["a"], properties: { a: false }, examples: [{ a: 1 }] }],
    ["a schema that can't be used", { type: "strnig" }],
  ])("answers nothing for %s", (_, schema) => {
    expect(sampleObject(schema)).toBeUndefined();
  });

  it("ends on a schema that refers to itself", () => {
    const schema = { type: "object", required: ["a"], properties: { a: { $ref: "#" } } };
    expect(sampleObject(schema)).toBeUndefined();
  });

  it("finds one for the books of the example", () => {
    const file = new URL("../../../../examples/bookshop.yaml", import.meta.url);
    const objects = parseAllDocuments(readFileSync(file, "utf8")).map((document) => document.toJS());
    const books = objects.find(({ kind, metadata }) => kind === "ApiResource" && metadata.name === "books");
    expect(sampleObject(books.spec.schema)).toBeDefined();
  });
});
