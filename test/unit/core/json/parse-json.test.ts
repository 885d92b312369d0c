import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { elementsOf, kindOf, membersOf } from "../../../../core/json/members.ts";
import { parseJson, parseJsonNumbers } from "../../../../core/json/parse-json.ts";

/** What a text holds as lists of names and texts of scalars, by the text alone. */
function modelOfText(text: string): unknown {
  if (kindOf(text) === "array") return elementsOf(text).map(modelOfText);
  if (kindOf(text) !== "object") return ["scalar", JSON.stringify(JSON.parse(text))];
  return byName(
    membersOf(text).map(({ name, valueStart, valueEnd }) => [name, modelOfText(text.slice(valueStart, valueEnd))]),
  );
}

/** The same of a value. */
function modelOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(modelOf);
  if (value === null || typeof value !== "object") return ["scalar", JSON.stringify(value)];
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  return byName(Object.entries(value).map(([name, member]) => [name, modelOf(member)]));
}

/** Objects have names like `10` first, texts don't. */
function byName(members: (readonly [string, unknown])[]): unknown {
  return { members: members.sort(([left], [right]) => (left < right ? -1 : 1)) };
}

const pieces = ["\\", '"', "\n", "\t", "n", "t", "c", "é", "\u2028", "😀", "\ud800", "10", "/"];
const unusualNames = fc.oneof(
  fc.constantFrom("__proto__", "__proto__\n", "constructor", "", "c"),
  fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 3 }).map((parts) => parts.join("")),
);
const { value: unusualTexts } = fc.letrec<{ value: string; object: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom("1", "-0", "1e400", "true", "false", "null", '"\\\\"', '"\\n:"', '"c"', "[]", "{}"),
    tie("object"),
    fc.array(tie("value"), { maxLength: 3 }).map((elements) => `[${elements.join(",")}]`),
  ),
  object: fc
    .uniqueArray(fc.tuple(unusualNames, tie("value")), { selector: ([name]) => name, minLength: 1, maxLength: 4 })
    .map((members) => `{${members.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`),
}));

describe("parsing JSON that somebody else wrote", () => {
  it("gives a name with an escape although an object before it had a backslash there", () => {
    parseJson('{"c":1,"\\\\":1}');
    expect(Object.keys(parseJson('{"c":1,"\\n":2}') as object)).toEqual(["c", "\n"]);
    parseJson('{"d":1,"\\\\":[1]}');
    expect(Object.keys(parseJson('{ "d" : 1 , "\\n"\n: [ 2 ] }') as object)).toEqual(["d", "\n"]);
  });

  it("gives the names and values that stand in the text, whatever was parsed before", () => {
    const texts = fc.array(unusualTexts, { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(texts, (all) => {
        for (const text of all) expect(modelOf(parseJson(text))).toEqual(modelOfText(text));
      }),
      { numRuns: 300 },
    );
  });

  it("gives the same for a text with spaces and needless escapes", () => {
    const token = /"(?:[^"\\]|\\.)*"|[{}[\]:,]/gu;
    fc.assert(
      fc.property(unusualTexts, (text) => {
        const loose = text.replace(token, (part) => `\t${part.replace(/^"c/, '"\\u0063')}\r\n `);
        expect(modelOf(parseJson(`{ "\\n" : ${loose} }`))).toEqual(modelOfText(`{"\\n":${text}}`));
      }),
    );
  });

  it("keeps __proto__ as a member beside a name with an escape", () => {
    const value = parseJson('{"\\n":1,"__proto__":{"a":1}}') as object;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.entries(value)).toEqual([
      ["\n", 1],
      ["__proto__", { a: 1 }],
    ]);
  });

  it("refuses what is not JSON", () => {
    for (const text of ['{"\\n":1', '{"\\n":1,}', '{"\\n":01}', '\\":', '"\\', '{"\\x":1}', ""]) {
      expect(() => parseJson(text)).toThrow(SyntaxError);
    }
  });

  it("takes a depth of 100,000, as JSON.parse does", () => {
    const text = `{"\\n":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    expect(Object.keys(parseJson(text) as object)).toEqual(["\n"]);
  });

  it.each(["a", "\\n"])("tells the place and the source of each number beside the name %j", (name) => {
    const seen: unknown[] = [];
    const text = `{"${name}":18446744073709551615,"b":[true, 1.50 ,{"c":"9"}]}`;
    const value = parseJsonNumbers(text, (container, key, number, source) => {
      seen.push([container, key, number, source]);
    }) as Record<string, unknown>;
    expect(seen).toEqual([
      [value, JSON.parse(`"${name}"`), 2 ** 64, "18446744073709551615"],
      [value["b"], "1", 1.5, "1.50"],
    ]);
  });
});
