// Which failures an update may keep, where a resource says `updates: Ratchet`.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../core/config/types.ts";
import { parseJson } from "../../../../core/json/parse-json.ts";
import { compileSchema } from "../../../../core/schema/compile-schema.ts";
import { addsNoFailure } from "../../../../dataplane/objects/ratchet.ts";

function ratchet(schema: JsonObject, before: string, after: string): boolean {
  const result = compileSchema(schema);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  const validation = result.schema.validateFully(parseJson(after), after);
  expect(validation.failures).not.toEqual([]);
  return addsNoFailure(result.schema, validation, after, before);
}

const text = { type: "string" } as const;
const small = { type: "integer", maximum: 9 } as const;
const named = { type: "object", properties: { n: small, s: text }, required: ["s"] } as const;
const object = (properties: JsonObject, more: JsonObject = {}): JsonObject => ({ type: "object", properties, ...more });

describe("an update", () => {
  for (const [what, schema, before, after] of [
    [
      "keeps a wrong value, next to one that changes",
      object({ n: small, s: text }),
      '{"n":10,"s":"a"}',
      '{"n":10,"s":"b"}',
    ],
    ["keeps one of several wrong values", object({ n: small, s: text }), '{"n":10,"s":1}', '{"n":10,"s":"b"}'],
    ["leaves out a required member that was missing", named, "{}", '{"n":1}'],
    [
      "keeps a member that is not allowed",
      object({ s: text }, { additionalProperties: false }),
      '{"x":1}',
      '{"x":1,"s":"a"}',
    ],
    [
      "keeps a wrong value deeper down, where something beside it changes",
      object({ at: named }),
      '{"at":{"n":10,"s":"a"}}',
      '{"at":{"n":10,"s":"b"}}',
    ],
    [
      "keeps a value that matches no alternative",
      object({ a: { anyOf: [text, small] }, s: text }),
      '{"a":10}',
      '{"a":10,"s":"a"}',
    ],
    [
      "keeps a wrong item that it doesn't touch, in its place",
      object({ l: { items: small } }),
      '{"l":[10,1]}',
      '{"l":[10,2]}',
    ],
    ["appends behind wrong items", object({ l: { items: named } }), '{"l":[{"n":10}]}', '{"l":[{"n":10},{"s":"a"}]}'],
  ] as const) {
    it(what, () => expect(ratchet(schema, before, after)).toBe(true));
  }

  for (const [what, schema, before, after] of [
    ["makes a value wrong", object({ n: small }), '{"n":1}', '{"n":10}'],
    ["makes a wrong value wrong in another way", object({ n: small }), '{"n":11}', '{"n":10}'],
    ["makes a wrong value wrong in the same way, in other digits", object({ n: small }), '{"n":10}', '{"n":10.0}'],
    ["adds a failure beside one that stood", object({ n: small, s: text }), '{"n":10,"s":"a"}', '{"n":10,"s":1}'],
    ["removes a required member", named, '{"s":"a"}', '{"n":1}'],
    ["adds a member that is not allowed", object({}, { additionalProperties: false }), '{"x":1}', '{"x":1,"y":1}'],
    ["changes a member that is not allowed", object({}, { additionalProperties: false }), '{"x":1}', '{"x":2}'],
    [
      "changes a part of a value that matches no alternative",
      object({ a: { anyOf: [text, small] } }),
      '{"a":{"b":1}}',
      '{"a":{"b":2}}',
    ],
    [
      "changes an object that matches no alternative",
      { type: "object", anyOf: [{ required: ["a"] }, { required: ["b"] }] },
      '{"c":1}',
      '{"c":2}',
    ],
    [
      "has too many members, and others than before",
      object({}, { maxProperties: 1 }),
      '{"a":1,"b":1}',
      '{"a":1,"c":1}',
    ],
    ["moves a wrong item to another index", object({ l: { items: small } }), '{"l":[1,10]}', '{"l":[10]}'],
    ["inserts before wrong items", object({ l: { items: named } }), '{"l":[{"n":1}]}', '{"l":[{"n":2},{"n":1}]}'],
    ["changes an item that stays wrong", object({ l: { items: named } }), '{"l":[{"n":1}]}', '{"l":[{"n":2}]}'],
    [
      "keeps a value that is wrong by another schema than before",
      {
        type: "object",
        if: object({ k: { const: 1 } }),
        else: object({ n: { maximum: 5 } }),
        allOf: [{ if: object({ k: { const: 2 } }), else: object({ n: small }) }],
      },
      '{"k":1,"n":10}',
      '{"k":2,"n":10}',
    ],
  ] as const) {
    it(`is refused that ${what}`, () => expect(ratchet(schema, before, after)).toBe(false));
  }

  it("is refused where there may be more failures than are reported", () => {
    const schema = object({ s: text }, { additionalProperties: small });
    const wrong = (count: number) => Array.from({ length: count }, (_, n) => `"m${n}":10`).join(",");
    const update = (count: number) => ratchet(schema, `{${wrong(count)}}`, `{${wrong(count)},"s":"a"}`);
    expect([update(99), update(100), update(500)]).toEqual([true, false, false]);
  });

  it("is refused where comparing what failed would take too much work", () => {
    const schema = object({ text, s: text }, { additionalProperties: small });
    const members = `"text":"${"x".repeat(1_000_000)}",${Array.from({ length: 20 }, (_, n) => `"m${n}":10`).join(",")}`;
    expect(ratchet(schema, `{${members}}`, `{${members},"s":"a"}`)).toBe(false);
  });

  it("never leaves a value with a failure that it did not have, whatever both objects are", () => {
    const schema = object(
      { a: small, b: named, l: { items: named } },
      { required: ["a"], additionalProperties: false },
    );
    const result = compileSchema(schema);
    if (!result.ok) throw new Error("The schema compiles");
    const leaf = fc.constantFrom("1", "10", '"x"', "null");
    const inner = fc.dictionary(fc.constantFrom("n", "s"), leaf).map(textOf);
    const members = {
      a: leaf,
      b: fc.oneof(leaf, inner),
      l: fc.oneof(
        leaf,
        fc.array(inner, { maxLength: 3 }).map((items) => `[${items.join(",")}]`),
      ),
      x: leaf,
    };
    const objects = fc.record(members, { requiredKeys: [] }).map(textOf);
    fc.assert(
      fc.property(objects, objects, (before, after) => {
        const validation = result.schema.validateFully(parseJson(after), after);
        if (validation.failures.length === 0 || !addsNoFailure(result.schema, validation, after, before)) return;
        const stood = result.schema.validate(parseJson(before), before).map((failure) => JSON.stringify(failure));
        for (const failure of validation.failures) expect(stood).toContain(JSON.stringify(failure));
      }),
      { numRuns: 2_000 },
    );
  });
});

function textOf(members: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(members).filter(([, value]) => value !== undefined);
  return `{${given.map(([name, value]) => `"${name}":${value}`).join(",")}}`;
}
