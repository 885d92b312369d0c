// That what is sent into an object is what comes back, character by character where JSON leaves no
// choice.

import { beforeAll, describe, expect, it } from "vitest";
import { list, make, outcome } from "../support/http/api-calls.ts";
import { apikey, project, withKey, withResource } from "../support/http/projects.ts";
import { describeServed, type Served } from "../support/http/served.ts";

const key = apikey("writer");
const shop = project("shop", withKey("writer"), withResource("things"), withResource("untouched"));

describeServed("an object's values", (serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(shop);
    await make(served, "untouched", { n: 1 }, key);
  });

  /** What is between id and _metadata of an object's text. */
  const dataOf = (text: string) => /^\{"id":"[^"]+",(.*),"_metadata":\{[^}]*\}\}$/s.exec(text)?.[1];
  const post = (body: string | Uint8Array) => served.send("/api/things", { method: "POST", body, as: key });

  /** Through create, read, list, an update next to it and an update of it. */
  async function roundTrip(data: string): Promise<readonly (string | undefined)[]> {
    const created = await post(`{${data}}`);
    const path = `/api/things/${created.json().id}`;
    const read = await served.send(path, { as: key });
    const { text } = await served.send("/api/things?_sort=-id&_limit=1", { as: key });
    const listed = /"items":\[(.*)\],"links"/s.exec(text)?.[1];
    const beside = await served.send(path, { method: "PUT", body: '{"beside":1}', as: key });
    const again = await served.send(path, { method: "PUT", body: `{"beside":2,${data}}`, as: key });
    return [
      dataOf(created.text),
      dataOf(read.text),
      dataOf(listed ?? ""),
      dataOf(beside.text)?.replace(',"beside":1', ""),
      dataOf(again.text)?.replace(',"beside":2', ""),
    ];
  }

  it.each([
    ["the smallest integer of 64 bits", "-9223372036854775808"],
    ["the largest signed one", "9223372036854775807"],
    ["the largest unsigned one", "18446744073709551615"],
    ["an integer that no double holds", "9007199254740993"],
    ["its negative", "-9007199254740993"],
    ["zero", "0"],
    ["one with a fraction of zero", "1.0"],
    ["a fraction", "0.1"],
    ["a price", "19.99"],
    ["a negative fraction", "-273.15"],
    ["a small fraction", "0.00001"],
    ["an empty string", '""'],
    ["a string of escapes", '"\\"\\\\\\b\\f\\n\\r\\t"'],
    ["control characters", '"\\u0000\\u001f"'],
    ["a delete character", '"\u007f"'],
    ["line separators of JavaScript", '"\u2028\u2029"'],
    ["letters beyond ASCII", '"ÄÖÜ ß 漢字 ﷽"'],
    ["an emoji with joiners", '"👩‍👩‍👧‍👦"'],
    ["a combining accent that is not the composed letter", '"e\u0301 é"'],
    ["a byte order mark inside", '"\ufeff"'],
    ["true", "true"],
    ["false", "false"],
    ["null", "null"],
    ["an empty array", "[]"],
    ["an empty object", "{}"],
    ["nested ones", '[[],{},[{"a":[null,{"b":[]}]}]]'],
    ["HTML", '"<script>alert(1)</script>&amp;"'],
  ])("come back as they are: %s", async (_what, value) => {
    const data = `"v":${value},"list":[${value}],"nested":{"v":${value}}`;
    expect(await roundTrip(data)).toEqual(Array(5).fill(data));
  });

  it.each([
    ["white space between tokens", '{ "a" :\t[ 1 ,\r\n2 ] }', '"a":[1,2]'],
    ["escapes that nobody needs", '{"\\u0061":"\\u0062\\/\\u00e9"}', '"a":"b/é"'],
    ["an emoji in escapes", '{"a":"\\ud83d\\ude00"}', '"a":"😀"'],
    ["escapes in capitals", '{"a":"\\u001F"}', '"a":"\\u001f"'],
    ["an exponent, which is a double", '{"a":1e2,"b":1E+2,"c":1.5e-7}', '"a":100.0,"b":100.0,"c":1.5e-7'],
    ["a fraction with zeros at its end", '{"a":1.50}', '"a":1.5'],
    ["the negative zero, which only a double has", '{"a":-0,"b":-0.0}', '"a":-0.0,"b":-0.0'],
    ["the largest double", '{"a":1.7976931348623157e308}', '"a":1.7976931348623157e308'],
    ["the smallest one, and less", '{"a":5e-324,"b":1e-400}', '"a":5e-324,"b":0.0'],
  ])("mean the same and are answered in one spelling: %s", async (_what, body, expected) => {
    const created = await post(body);
    expect(dataOf(created.text)).toBe(expected);
    expect((await served.send(`/api/things/${created.json().id}`, { as: key })).text).toBe(created.text);
  });

  it.each([
    ["one more than 64 unsigned bits", "18446744073709551616"],
    ["one less than 64 signed bits", "-9223372036854775809"],
    ["an integer of 30 digits", "123456789012345678901234567890"],
    ["an integer of 10,000 digits", "9".repeat(10_000)],
    ["a number beyond all doubles", "1e400"],
    ["a negative one", "-1e400"],
    ["one with an enormous exponent", "1e999999999999"],
    ["one just beyond", "1.7976931348623159e308"],
  ])("are refused, and nothing is stored: %s", async (_what, value) => {
    const { count } = await list(served, "things", key);
    for (const body of [`{"v":${value}}`, `{"v":[{"deep":${value}}]}`]) {
      expect(outcome(await post(body))).toEqual([400, "number_out_of_range"]);
    }
    expect((await list(served, "things", key)).count).toBe(count);
  });

  describe("under odd keys", () => {
    const keys = [
      "__proto__",
      "constructor",
      "prototype",
      "toString",
      "hasOwnProperty",
      "valueOf",
      "__defineGetter__",
      "0",
      "10",
      "007",
      "-1",
      "",
      " ",
      "a.b",
      "a..b",
      ".",
      "..",
      "a/b",
      "~1",
      'a"b',
      "a'b",
      "a\\b",
      "a\\\"'b",
      "$",
      "$.a",
      "@",
      "*",
      "[0]",
      "['a']",
      "a\nb",
      "a\u0000b",
      "ключ",
      "😀",
      "a\u0301",
      "x".repeat(5_000),
      "_",
      "_private",
      "__v",
      "count",
      "items",
      "links",
    ];

    it("come back in the order sent, all together, and stay through updates of each", async () => {
      const data = keys.map((name, n) => `${JSON.stringify(name)}:${n}`).join(",");
      expect(await roundTrip(data)).toEqual(Array(5).fill(data));
    });

    it.each(keys)("come back, alone, nested and after an update: %j", async (name) => {
      const json = JSON.stringify(name);
      const created = await post(`{${json}:{${json}:[{${json}:1}]}}`);
      expect(dataOf(created.text)).toBe(`${json}:{${json}:[{${json}:1}]}`);
      const path = `/api/things/${created.json().id}`;
      const updated = await served.send(path, { method: "PUT", body: `{${json}:null}`, as: key });
      expect(dataOf(updated.text)).toBe(`${json}:null`);
      expect((await served.send(path, { as: key })).text).toBe(updated.text);
    });

    it("pollute nothing: other objects have no more than was given to them", async () => {
      await post('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}');
      const { items } = await list(served, "untouched", key);
      expect(items.map((item) => Object.keys(item))).toEqual([["id", "n", "_metadata"]]);
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    });
  });

  describe("in many members", () => {
    it("keep their order, digits among names, of 2,000 members", async () => {
      const data = Array.from({ length: 2_000 }, (_, n) => `"${n % 2 ? "f" : ""}${(n * 7919) % 2003}":${n}`).join(",");
      expect(dataOf((await post(`{${data}}`)).text)).toBe(data);
    });

    it.each([
      ["at the top", '{"a":1,"a":2}'],
      ["nested", '{"x":[{"a":1,"b":2,"a":1}]}'],
      ["spelled with escapes", '{"a":1,"\\u0061":2}'],
      ["__proto__", '{"__proto__":1,"__proto__":2}'],
      ["the empty key", '{"":1,"":2}'],
      ["far apart", `{"a":1,${Array.from({ length: 500 }, (_, n) => `"f${n}":${n}`).join(",")},"a":2}`],
    ])("are refused when two have one name: %s", async (_what, body) => {
      expect(outcome(await post(body))).toEqual([400, "duplicate_member"]);
    });
  });

  describe("nested deeply", () => {
    const nested = (levels: number) => `{"v":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`;

    it("come back at 64 levels", async () => {
      expect((await post(nested(64))).status).toBe(201);
      const objects = `${'{"a":'.repeat(63)}{}${"}".repeat(63)}`;
      expect((await post(objects)).status).toBe(201);
    });

    it.each([65, 129, 100_000])("are refused at %i levels", async (levels) => {
      expect(outcome(await post(nested(levels)))).toEqual([400, "too_deep"]);
      expect(outcome(await post("[".repeat(levels)))).toEqual([400, "too_deep"]);
      expect(outcome(await post('{"a":'.repeat(levels)))).toEqual([400, "too_deep"]);
    });
  });

  it("of a whole mebibyte come back", async () => {
    const data = `"text":"${"é".repeat(500_000)}"`;
    const created = await post(`{${data}}`);
    expect(created.status).toBe(201);
    expect(dataOf((await served.send(`/api/things/${created.json().id}`, { as: key })).text)).toBe(data);
  });
});
