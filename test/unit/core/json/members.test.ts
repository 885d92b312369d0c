import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../../../core/json/canonical.ts";
import { kindOf, membersOf, mergeMembers, valueAt, withoutMembers } from "../../../../core/json/members.ts";
import { names, render, type Written, written } from "../../../support/json/json-texts.ts";

function textOf(value: Written): string {
  const result = canonicalJson(render(value, [0]), 64);
  if (!result.ok) throw new Error(result.error.detail);
  return result.json.text;
}

const objects = fc
  .uniqueArray(fc.tuple(names, written), { selector: ([name]) => name, maxLength: 8 })
  .map((members) => members.map(([name, value]) => [name, textOf(value)] as const));

function objectText(members: Iterable<readonly [string, string]>): string {
  return `{${Array.from(members, ([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`;
}

describe("the members of an object text", () => {
  it("are all of them, in order, with unescaped names and the places of their values", () => {
    fc.assert(
      fc.property(objects, (members) => {
        const text = objectText(members);
        const found = membersOf(text).map(({ name, start, valueStart, valueEnd }) => {
          expect(text.slice(start, valueStart)).toBe(`${JSON.stringify(name)}:`);
          return [name, text.slice(valueStart, valueEnd)];
        });
        expect(found).toEqual(members);
      }),
    );
  });

  it("are not asked of anything but an object", () => {
    for (const text of ["[]", '"{}"', "1", "null"]) expect(() => membersOf(text)).toThrow(TypeError);
  });

  it("are read from an object of 100,000 names", () => {
    const text = objectText(Array.from({ length: 100_000 }, (_, index) => [`k${index}`, String(index)] as const));
    expect(membersOf(text)).toHaveLength(100_000);
    expect(valueAt(text, ["k99999"])).toBe("99999");
  });
});

describe("the value at a path of names", () => {
  it("is the member's own text", () => {
    fc.assert(
      fc.property(objects, objects, names, (outer, inner, name) => {
        const text = mergeMembers(objectText(outer), new Map([[name, objectText(inner)]]));
        for (const [inside, value] of inner) expect(valueAt(text, [name, inside])).toBe(value);
        for (const [other, value] of outer) if (other !== name) expect(valueAt(text, [other])).toBe(value);
        expect(valueAt(text, [])).toBe(text);
      }),
    );
  });

  it("is undefined where there is none: no such name, below a scalar, inside an array, inherited", () => {
    const text = '{"a":[1,2],"s":"a","n":null,"o":{"k":1}}';
    for (const path of [["b"], ["a", "0"], ["a", "length"], ["s", "length"], ["n", "x"], ["o", "x"], ["constructor"]]) {
      expect(valueAt(text, path)).toBeUndefined();
    }
  });

  it("never takes text inside a string or a name for a member", () => {
    const text = '{"x\\":1,\\"a":"\\"a\\":2","y":{"a":3},"a\\"":4,"a":5}';
    expect(valueAt(text, ["a"])).toBe("5");
    expect(valueAt(text, ['a"'])).toBe("4");
    expect(valueAt(text, ['x":1,"a'])).toBe('"\\"a\\":2"');
  });
});

describe("a shallow merge", () => {
  it("does what a Map does: known names keep their place, new ones go to the end", () => {
    fc.assert(
      fc.property(objects, objects, (members, changes) => {
        const merged = mergeMembers(objectText(members), new Map(changes));
        expect(merged).toBe(objectText(new Map([...members, ...changes])));
      }),
    );
  });

  it("replaces nested objects whole and keeps null as a value", () => {
    const changes = new Map([
      ["a", "null"],
      ["o", '{"y":1}'],
      ["__proto__", "1.0"],
    ]);
    expect(mergeMembers('{"o":{"x":1},"a":1,"z":9007199254740993}', changes)).toBe(
      '{"o":{"y":1},"a":null,"z":9007199254740993,"__proto__":1.0}',
    );
  });

  it("leaves the text as it is without changes", () => {
    expect(mergeMembers("{}", new Map())).toBe("{}");
    expect(mergeMembers('{"a":1}', new Map())).toBe('{"a":1}');
  });
});

describe("an object without some members", () => {
  it("keeps the others in order", () => {
    fc.assert(
      fc.property(objects, fc.array(names), (members, dropped) => {
        const removed = new Set(dropped);
        const kept = members.filter(([name]) => !removed.has(name));
        expect(withoutMembers(objectText(members), removed)).toBe(objectText(kept));
      }),
    );
  });
});

describe("the kind of a text", () => {
  it("is told by its first character", () => {
    const texts = ["{}", "[]", '"{"', "-1", "0.5", "true", "false", "null"];
    expect(texts.map((text) => kindOf(text))).toEqual([
      "object",
      "array",
      "string",
      "number",
      "number",
      "boolean",
      "boolean",
      "null",
    ]);
  });
});
