// What a form shows of a schema and of the JSON text that it edits.

import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../../core/config/types.ts";
import { readFields } from "../../../../../pages/console/fields.ts";
import {
  clearedValue,
  firstText,
  fits,
  hasFieldAt,
  labelAt,
  localTime,
  numberText,
  standingFaults,
  timeAt,
} from "../../../../../pages/console/form/form-text.ts";
import { OpenApiDocument } from "../../../../../pages/console/open-api-document.ts";

const fieldsOf = (schema: JsonObject, root: JsonObject = {}) => readFields(new OpenApiDocument(root), schema);
const controlOf = (property: JsonObject) => fieldsOf({ properties: { it: property } })[0]?.control;

describe("the control of a property", () => {
  it.each([
    [{ type: "string" }, { kind: "text", isLong: false }],
    [
      { type: ["string", "null"], format: "date" },
      { kind: "text", format: "date", isLong: false },
    ],
    [
      { type: "string", maxLength: 4000 },
      { kind: "text", isLong: true },
    ],
    [{ type: "integer" }, { kind: "number", step: "1" }],
    [{ type: "number" }, { kind: "number", step: "any" }],
    [
      { type: "number", multipleOf: 0.01 },
      { kind: "number", step: "0.01" },
    ],
    [{ type: "boolean" }, { kind: "boolean" }],
    [{ enum: ["a", 1, null] }, { kind: "choice", options: ['"a"', "1"] }],
    [{}, { kind: "json" }],
    [{ type: ["string", "integer"] }, { kind: "json" }],
    [{ oneOf: [{ type: "string" }] }, { kind: "json" }],
    [{ type: "object" }, { kind: "json" }],
    [{ type: "array", items: {} }, { kind: "json" }],
    [{ enum: [["a"]] }, { kind: "json" }],
  ])("of %j is %j", (property, control) => {
    expect(controlOf(property)).toEqual(control);
  });

  it("has a level for each object and list, and ends where a schema contains itself", () => {
    const node = { type: "object", properties: { children: { type: "array", items: { $ref: "#/node" } } } };
    const [children] = fieldsOf(node, { node });
    expect(children?.control).toEqual({ kind: "json" });
    const lines = { type: "array", items: { type: "object", properties: { quantity: { type: "integer" } } } };
    expect(controlOf(lines)).toMatchObject({
      kind: "list",
      item: { control: { kind: "group", fields: [{ name: "quantity", control: { kind: "number" } }] } },
    });
  });

  it("shows an example or the suggested value as a placeholder", () => {
    const placeholders = fieldsOf({
      properties: { a: { type: "string", examples: ["Emma"] }, b: { "x-default": 7 }, c: { examples: [{}] } },
    });
    expect(placeholders.map(({ placeholder }) => placeholder)).toEqual(["Emma", "7", undefined]);
  });
});

it("begins with the parts of what is required, and with no value that nobody has entered", () => {
  const shipTo = { type: "object", required: ["name"], properties: { name: { type: "string", examples: ["Ada"] } } };
  const lines = { type: "array", minItems: 1, items: { type: "object", properties: { book: { type: "string" } } } };
  const properties = {
    ...{ shipTo, lines, total: { type: "number", "x-default": 1 }, gift: { type: "boolean" }, any: {} },
    ...{ kind: { const: "order" }, note: { type: "string" }, more: shipTo },
  };
  const fields = fieldsOf({ required: ["shipTo", "lines", "total", "gift", "any", "kind"], properties });
  expect(firstText(fields)).toBe('{"shipTo":{},"lines":[],"gift":false,"any":null,"kind":"order"}');
});

it("leaves null of what is cleared where it is required and may be null, and else nothing", () => {
  const types = { a: { type: ["string", "null"] }, b: { type: "string" }, c: { type: ["string", "null"] } };
  const fields = fieldsOf({ required: ["a", "b"], properties: types });
  expect(fields.map(clearedValue)).toEqual(["null", undefined, undefined]);
});

it("shows a value that its control can't show as JSON", () => {
  const [text, day, count] = [{ type: "string" }, { type: "string", format: "date" }, { type: "integer" }].map(
    controlOf,
  );
  if (text === undefined || day === undefined || count === undefined) throw new Error("all have a control");
  expect([fits(text, '"a"'), fits(text, "7"), fits(text, "null"), fits(text, undefined)]).toEqual([
    true,
    false,
    true,
    true,
  ]);
  const list = controlOf({ type: "array", items: { type: "integer" } });
  if (list === undefined) throw new Error("it has a control");
  expect([100, 101].map((count) => fits(list, JSON.stringify(Array(count).fill(1))))).toEqual([true, false]);
  expect([fits(day, '"2026-01-31"'), fits(day, '"soon"'), fits(count, "9007199254740993")]).toEqual([
    true,
    false,
    true,
  ]);
});

it("reads numbers with every digit, and what HTML takes for one", () => {
  expect(["9007199254740993", "1.50", ".5", "-0", "1e3", "", "x"].map(numberText)).toEqual([
    "9007199254740993",
    "1.5",
    "0.5",
    "-0.0",
    "1000.0",
    undefined,
    undefined,
  ]);
});

it("shows times in the reader's time zone, and stores them in UTC", () => {
  for (const time of ["2026-01-31T12:00:00Z", "2026-07-01T23:59:58Z"]) expect(timeAt(localTime(time))).toBe(time);
  expect(timeAt(localTime("2026-01-31T13:00:00+01:00"))).toBe("2026-01-31T12:00:00Z");
});

describe("what the server found wrong", () => {
  it("stands until that is changed", () => {
    const faults = ["/title", "/author/name", "/tags"].map((pointer) => ({ pointer, message: "wrong" }));
    const before = '{"author":{"name":""},"tags":[]}';
    const after = '{"title":"Emma","author":{"name":""},"tags":["a"]}';
    expect(standingFaults(faults, before, after).map(({ pointer }) => pointer)).toEqual(["/author/name"]);
  });

  it("is shown at its field, where there is one", () => {
    const lines = { type: "array", items: { type: "object", properties: { book: { type: "string" } } } };
    const fields = fieldsOf({ properties: { lines, any: {}, title: { type: "string" } } });
    const at = (pointer: string) => hasFieldAt(fields, pointer);
    expect(["/title", "/lines", "/lines/3/book", "/any/deep", "/lines/3/other", "/none", ""].map(at)).toEqual([
      ...[true, true, true, true],
      ...[false, false, false],
    ]);
  });
});

it("names a place by the labels that people read, and by names where there are none", () => {
  const lines = { type: "array", items: { type: "object", properties: { book: { type: "string", title: "Book" } } } };
  const fields = fieldsOf({ properties: { lines, any: { title: "Anything" } } });
  expect(["/lines/1/book", "/lines/0/other", "/any/deep", "/pages"].map((pointer) => labelAt(fields, pointer))).toEqual(
    [...["lines › line 2 › Book", "lines › line 1 › other", "Anything › deep", "pages"]],
  );
});
