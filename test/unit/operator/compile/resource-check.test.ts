import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../core/config/types.ts";
import { createResourceCheck } from "../../../../operator/compile/resource-check.ts";
import type { ApiResource } from "../../../../operator/model/objects.ts";

const text = { type: "string" };

function spec(properties: JsonObject, indexes?: readonly string[]): ApiResource["spec"] {
  const schema = { type: "object", properties };
  return { schema, ...(indexes !== undefined && { indexes }) } as unknown as ApiResource["spec"];
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
    for (const [given, indexes] of cases) expect(check(given)).toEqual({ ok: true, value: indexes, notices: [] });
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
        value: [
          { name, path: [name] },
          { name: "title", path: ["title"] },
        ],
      });
    }
  });
});
