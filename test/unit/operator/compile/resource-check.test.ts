import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../core/config/types.ts";
import { createResourceCheck } from "../../../../operator/compile/resource-check.ts";
import type { ApiResource } from "../../../../operator/model/objects.ts";

const text = { type: "string" };

function spec(properties: JsonObject, indexes?: readonly string[]): ApiResource["spec"] {
  const schema = { type: "object", properties };
  return { schema, ...(indexes !== undefined && { indexes }) } as unknown as ApiResource["spec"];
}

function specWith(unique: readonly unknown[]): ApiResource["spec"] {
  const properties = {
    isbn: { type: ["string", "null"], maxLength: 256 },
    long: { type: "string", maxLength: 257 },
    title: text,
    lang: { enum: ["de", "en"] },
    pages: { type: "integer" },
    code: { type: ["string", "integer"] },
    archived: { type: "boolean" },
    address: { type: "object", properties: { zip: { type: "string", allOf: [{ maxLength: 9 }] } } },
  };
  return { ...spec(properties, []), unique } as unknown as ApiResource["spec"];
}

describe("the check of resources", () => {
  test("gives each its own indexes, whatever others have", () => {
    const check = createResourceCheck();
    const title = { name: "title", path: ["title"] };
    const name = { name: "name", path: ["name"] };
    const literal = { name: "author.name", path: ["author.name"] };
    const nested = { name: "author.name", path: ["author", "name"] };
    const both = { name: "title,name", path: ["title"], parts: [title, name] };
    const author = { type: "object", properties: { name: text } };
    const cases = [
      [spec({ title: text, name: text }), [title, name]],
      [spec({ name: text }), [name]],
      [spec({ "author.name": text }), [literal]],
      [spec({ author }, ["author.name"]), [nested]],
      [spec({ title: text, name: text }, ["title,name", "name"]), [both, name]],
      [spec({ "author.name": text, author }, ["author.name"]), [literal]],
    ] as const;
    for (const [given, indexes] of cases) {
      expect(check(given)).toEqual({ ok: true, value: { indexes, unique: [] }, notices: [] });
    }
  });

  test("refuses a default that can't be filled in, where defaults are applied", () => {
    const check = createResourceCheck();
    const given = spec({ a: { anyOf: [{ properties: { n: { default: 1 } } }] } });
    const pointer = "/spec/schema/properties/a/anyOf/0/properties/n/default";
    expect(check({ ...given, defaults: "Apply" })).toMatchObject({
      ok: false,
      refusal: { reason: "InvalidSchema", faults: [{ pointer }] },
    });
    expect(check({ ...given, defaults: "Describe" })).toMatchObject({ ok: true });
  });

  test("remembers an answer with the spec, refusals too", () => {
    const check = createResourceCheck();
    for (const given of [
      spec({ title: text }),
      spec({ title: text }, ["missing.field"]),
      spec({ title: { type: "no" } }),
    ]) {
      expect(check(given)).toBe(check(given));
    }
  });

  test("goes on when there were more names of fields than are shared", () => {
    const check = createResourceCheck();
    for (let each = 0; each < 1_100; each += 1) {
      const name = `field${each}`;
      expect(check(spec({ [name]: text, title: text }))).toMatchObject({
        value: {
          indexes: [
            { name, path: [name] },
            { name: "title", path: ["title"] },
          ],
        },
      });
    }
  });

  test("turns unique rules into fields with their places", () => {
    const rules = [
      { fields: ["isbn"], ignoreCase: false },
      {
        fields: ["address.zip", "lang", "pages"],
        ignoreCase: true,
        per: "Owner",
        where: { archived: false, title: null },
      },
    ];
    expect(createResourceCheck()(specWith(rules))).toMatchObject({
      value: {
        unique: [
          { fields: [{ name: "isbn", path: ["isbn"] }] },
          {
            fields: [
              { name: "address.zip", path: ["address", "zip"] },
              { name: "lang", path: ["lang"] },
              { name: "pages", path: ["pages"] },
            ],
            ignoreCase: true,
            per: "Owner",
            where: [
              { field: { name: "archived", path: ["archived"] }, value: false },
              { field: { name: "title", path: ["title"] }, value: null },
            ],
          },
        ],
      },
    });
  });

  test.each([
    [[{ fields: ["isbm"] }], "/spec/unique/0/fields/0", 'The schema declares no "isbm": did you mean "isbn"?'],
    [[{ fields: ["id"] }], "/spec/unique/0/fields/0", 'The schema declares no "id"'],
    [
      [{ fields: ["isbn", "title"] }],
      "/spec/unique/0/fields/1",
      'The schema must bound "title": give it a maxLength of at most 256, or an enum',
    ],
    [[{ fields: ["long"] }], "/spec/unique/0/fields/0", 'The schema must bound "long"'],
    [
      [{ fields: ["code"] }],
      "/spec/unique/0/fields/0",
      'The schema must give "code" one type: string, number, integer or boolean, and perhaps null',
    ],
    [[{ fields: ["address"] }], "/spec/unique/0/fields/0", 'The schema must give "address" one type'],
    [
      [{ fields: ["isbn", "lang"] }, { fields: ["lang", "isbn"], per: "Owner" }],
      "/spec/unique/1/fields",
      "Has the same fields as rule 0",
    ],
    [
      [{ fields: ["isbn"], where: { archived: "no" } }],
      "/spec/unique/0/where",
      'The schema gives "archived" the type boolean, so that it is never "no"',
    ],
    [[{ fields: ["isbn"], where: { pages: [1] } }], "/spec/unique/0/where", '"pages" is compared with a string'],
    [[{ fields: ["isbn"], where: { deleted: null } }], "/spec/unique/0/where", 'The schema declares no "deleted"'],
  ])("refuses the unique rules %j", (rules, pointer, message) => {
    const faults = [{ pointer, message: expect.stringMatching(new RegExp(RegExp.escape(message))) }];
    expect(createResourceCheck()(specWith(rules))).toMatchObject({
      ok: false,
      refusal: { reason: "InvalidSpec", faults },
    });
  });
});
