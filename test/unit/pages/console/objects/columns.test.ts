// Which columns a list of objects has, and what an object is called.

import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../../core/config/types.ts";
import { readFields } from "../../../../../pages/console/fields.ts";
import { columnsOf, leadOf, type StoredObject, titleOf } from "../../../../../pages/console/objects/columns.ts";
import { keepNumbersExact } from "../../../../../pages/console/objects/exact-number.ts";
import { singularOf } from "../../../../../pages/console/objects/names.ts";
import { OpenApiDocument } from "../../../../../pages/console/open-api-document.ts";

const fieldsOf = (properties: JsonObject, required: readonly string[] = []) =>
  readFields(new OpenApiDocument({}), { type: "object", properties, required });
const objects = (...texts: readonly string[]): readonly StoredObject[] =>
  texts.map((text, index) => JSON.parse(`{"id":"${index}",${text.slice(1)}`, keepNumbersExact));
const names = (properties: JsonObject, ...texts: readonly string[]) =>
  columnsOf(fieldsOf(properties), objects(...texts)).map(({ name }) => name);

const text = { type: "string" };

describe("the columns of a list", () => {
  it("begin with the title, else the name, else the first text, a required one before others", () => {
    const day = { type: "string", format: "date" };
    const state = { enum: ["open", "done"] };
    expect(names({ note: text, name: text, title: text }, '{"note":"n","name":"m","title":"t"}')[0]).toBe("title");
    expect(names({ note: text, name: text }, '{"note":"n","name":"m"}')[0]).toBe("name");
    expect(names({ day, state, note: text }, '{"day":"2026-01-01","state":"open","note":"n"}')[0]).toBe("note");
    expect(names({ state, count: { type: "integer" } }, '{"state":"open","count":1}')[0]).toBe("state");
    const [first] = columnsOf(fieldsOf({ note: text, label: text }, ["label"]), objects('{"note":"n","label":"l"}'));
    expect(first?.name).toBe("label");
    const [only] = columnsOf(fieldsOf({ count: { type: "integer" } }), objects('{"count":1}'));
    expect(leadOf(only === undefined ? [] : [only], objects('{"count":1}'))).toBeUndefined();
  });

  it("are the values within objects, in the order of the schema, and what else was stored", () => {
    const author = { type: "object", properties: { name: text, born: { type: "integer" } } };
    const stored = '{"more":{"a":1},"author":{"born":1775,"name":"Jane","alias":"J"},"title":"Emma"}';
    expect(names({ author, title: text }, stored)).toEqual([
      "title",
      "author.name",
      "author.born",
      "more.a",
      "author.alias",
    ]);
  });

  it("are the declared ones on every page, without lists and undeclared ones that are empty there", () => {
    const tags = { type: "array", items: text };
    const shown = names({ title: text, note: text, tags }, '{"title":"a","tags":[],"more":""}', '{"note":null}');
    expect(shown).toEqual(["title", "note"]);
  });
});

it("is called by the text that its list begins with, if it has one", () => {
  const fields = fieldsOf({ price: { type: "number" }, shipTo: { type: "object", properties: { name: text } } });
  const [ada, none] = objects('{"price":1,"shipTo":{"name":"Ada"}}', '{"price":1}');
  expect(ada && titleOf(fields, ada)).toBe("Ada");
  expect(none && titleOf(fields, none)).toBeUndefined();
});

it.each([
  ["orders", "order"],
  ["categories", "category"],
  ["boxes", "box"],
  ["addresses", "address"],
  ["status", "status"],
  ["news", "news"],
  ["staff", "staff"],
])("one of %s is a %s", (name, one) => {
  expect(singularOf(name)).toBe(one);
});
