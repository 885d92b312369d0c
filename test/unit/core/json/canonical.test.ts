import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson, canonicalJsonOfBytes, canonicalReader } from "../../../../core/json/canonical.ts";
import { doubleText } from "../../../../core/json/number.ts";
import { manners, render, type Written, written } from "../../../support/json/json-texts.ts";
import { jsonTexts } from "../../../support/json/random-json.ts";
import { countForTier } from "../../../support/time/test-tier.ts";

const maxDepth = 64;

function canonical(source: string) {
  const result = canonicalJson(source, maxDepth);
  if (!result.ok) throw new Error(`${result.error.code}: ${result.error.detail}`);
  return result.json;
}

function errorIn(source: string) {
  const result = canonicalJson(source, maxDepth);
  if (result.ok) throw new Error(`Accepted as ${result.json.text}`);
  return result.error;
}

function parsed(source: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(source) };
  } catch {
    return undefined;
  }
}

/**
 * Names in order and values, numbers as Redis JSON keeps them: it can't hold every double
 * (number.test.ts).
 */
function outline(value: unknown): unknown {
  if (typeof value === "number") return doubleText(value);
  if (Array.isArray(value)) return value.map(outline);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value).map(([name, inner]) => [name, outline(inner)]);
}

function depthOf(value: Written): number {
  if ("elements" in value) return 1 + Math.max(0, ...value.elements.map(depthOf));
  return "members" in value ? 1 + Math.max(0, ...value.members.map(([, inner]) => depthOf(inner))) : 0;
}

function hasLoneSurrogate(value: unknown): boolean {
  if (typeof value === "string") return !value.isWellFormed();
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, inner]) => !name.isWellFormed() || hasLoneSurrogate(inner));
}

describe("the canonical text", () => {
  const examples: Readonly<Record<string, readonly [string, string]>> = {
    "drops white space": [' { "a" : [ 1 , \t2 ,\r\n3 ] , "b" : { } } ', '{"a":[1,2,3],"b":{}}'],
    "keeps the order of members, digit-like names included": [
      '{"10":1,"9":2,"a":3,"1":4}',
      '{"10":1,"9":2,"a":3,"1":4}',
    ],
    "keeps __proto__, constructor and the empty name": [
      '{"__proto__":{"x":1},"constructor":2,"":3}',
      '{"__proto__":{"x":1},"constructor":2,"":3}',
    ],
    "keeps 64-bit integers digit by digit": [
      "[9007199254740993,-9223372036854775808,18446744073709551615]",
      "[9007199254740993,-9223372036854775808,18446744073709551615]",
    ],
    "keeps 1.0 a double": ["[1.0,-1.0,100.0]", "[1.0,-1.0,100.0]"],
    "writes exponents out below 1e16": ["[1e2,1E+2,15e-1,1e15,0e7]", "[100.0,100.0,1.5,1000000000000000.0,0.0]"],
    "writes large and small doubles with a plain exponent": ["[1e16,1e21,0.000001,1.5E-7]", "[1e16,1e21,1e-6,1.5e-7]"],
    "drops zeros at the end of a fraction": ["[1.50,0.0500,-2.000]", "[1.5,0.05,-2.0]"],
    "keeps the limits of a double": ["[5e-324,1.7976931348623157e308]", "[5e-324,1.7976931348623157e308]"],
    "makes -0 a double, which alone can hold it": ["[-0,-0.0,-0e1]", "[-0.0,-0.0,-0.0]"],
    "rounds what is nearer to zero than any double to zero": ["[1e-400,-1e-400]", "[0.0,-0.0]"],
    "writes strings as JSON.stringify does": [
      '"\\u0041\\/\\u000a\\u001F\\u2028\\u00e9\\ud83d\\ude00\\u0022\\u005c\\u007f"',
      '"A/\\n\\u001f\u2028é😀\\"\\\\\u007f"',
    ],
  };
  for (const [behaviour, [source, text]] of Object.entries(examples)) {
    it(behaviour, () => expect(canonical(source).text).toBe(text));
  }

  it("is the same for every way to write a value, and parses to that value", () => {
    fc.assert(
      fc.property(written, manners, (value, manner) => {
        const source = render(value, manner);
        const { text, depth } = canonical(source);
        expect(text).toBe(canonical(render(value, [0])).text);
        expect(outline(JSON.parse(text))).toEqual(outline(JSON.parse(source)));
        expect(depth).toBe(depthOf(value));
      }),
    );
  });

  it("is its own canonical text", () => {
    fc.assert(
      fc.property(written, (value) => {
        const { text } = canonical(render(value, [0]));
        expect(canonical(text).text).toBe(text);
      }),
    );
  });

  it("says what kind of value it is and how deep", () => {
    const kinds = [" {}", "[]", '""', "-1.5", "true", "false", "null", '{"a":[{}]}'].map((source) => {
      const { kind, depth } = canonical(source);
      return [kind, depth];
    });
    expect(kinds).toEqual([
      ["object", 1],
      ["array", 1],
      ["string", 0],
      ["number", 0],
      ["boolean", 0],
      ["boolean", 0],
      ["null", 0],
      ["object", 3],
    ]);
  });
});

describe("what is refused", () => {
  const malformed = [
    ...[
      "",
      " ",
      "nul",
      "truefalse",
      "True",
      "nan",
      "Infinity",
      "undefined",
      "'a'",
      "{a:1}",
      "1 2",
      "{}{}",
      "[1,]",
      "[,1]",
    ],
    ...[
      "[1 2]",
      '{"a":1,}',
      '{"a"}',
      '{"a":}',
      "{,}",
      '{"a":1 "b":2}',
      '{"a",1}',
      "[1}",
      '{"a":1]',
      "[",
      "{",
      '{"a"',
      '{"a":',
    ],
    ...["01", "-01", "+1", ".5", "1.", "1.e1", "1e", "1e+", "-", "--1", "0x10", "1_000", "1,5", "１"],
    ...[
      '"',
      '"a',
      '"\\',
      '"\\"',
      '"\\x41"',
      '"\\u12"',
      '"\\u12g4"',
      '"\\u+123"',
      '"a\nb"',
      '"a\u0000b"',
      '"\t"',
      "\u0000",
      "\v1",
    ],
    ...["// a\n1", "1 /* a */", "\ufeff1", "\u00a01", "1\u2028", "]", "}", ",", ":"],
  ];
  for (const source of malformed) {
    it(`refuses ${JSON.stringify(source)} as malformed`, () => {
      expect(parsed(source)).toBeUndefined();
      expect(errorIn(source).code).toBe("malformed_json");
    });
  }

  it("refuses half a surrogate pair, as it is and escaped, in names too", () => {
    for (const half of [
      "\ud800",
      "\udc00",
      "\\ud800",
      "\\udfff",
      "\\uDBFF",
      "\\ud800\\ud800",
      "\\ud800a",
      "\\udc00\\ud800",
    ]) {
      for (const source of [`"${half}"`, `"a${half}b"`, `{"${half}":1}`]) {
        expect(errorIn(source)).toMatchObject({ code: "malformed_json" });
      }
    }
    // Each half alone could not have been sent in UTF-8; a pair made of both ways of writing is no
    // pair.
    expect(errorIn('"\ud83d\\ude00"').code).toBe("malformed_json");
    expect(errorIn('"\\ud83d\ude00"').code).toBe("malformed_json");
    expect(canonical('"\ud83d\ude00\\ud83d\\ude00"').text).toBe('"😀😀"');
  });

  it("refuses two members of one name, however each is written, and at any place among many", () => {
    for (const source of ['{"a":1,"a":1}', '{"a":1,"\\u0061":2}', '{"":1,"":2}', '{"__proto__":1,"__proto__":2}']) {
      expect(errorIn(source).code).toBe("duplicate_member");
    }
    const many = Array.from({ length: 40 }, (_, index) => `"k${index}":{"k${index}":[]}`);
    expect(canonical(`{${many.join(",")}}`).text).toBe(`{${many.join(",")}}`);
    for (let again = 0; again < 40; again++) {
      for (let at = again + 1; at <= 40; at += 7) {
        const members = many.toSpliced(at, 0, `"k${again}":1`);
        expect(errorIn(`[{${members.join(",")}}]`).code).toBe("duplicate_member");
      }
    }
  });

  it("allows one name in different objects", () => {
    const source = '{"a":{"a":{"a":1},"b":2},"b":[{"a":1},{"a":2}]}';
    expect(canonical(source).text).toBe(source);
  });

  it("refuses integers beyond 64 bits and magnitudes beyond a double", () => {
    for (const source of [
      "18446744073709551616",
      "-9223372036854775809",
      "1".repeat(400),
      "1e309",
      "-1e400",
      "1e99999999999",
    ]) {
      expect(errorIn(`[${source}]`).code).toBe("number_out_of_range");
    }
    expect(canonical("18446744073709551616.0").text).toBe("1.8446744073709552e19");
  });

  it("counts levels of nesting, and refuses one more than allowed without running out of stack", () => {
    const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
    expect(canonical(nested(64)).depth).toBe(64);
    expect(errorIn(nested(65)).code).toBe("too_deep");
    expect(errorIn("[".repeat(1_000_000)).code).toBe("too_deep");
    expect(errorIn('{"a":'.repeat(1_000_000)).code).toBe("too_deep");
    expect(canonicalJson("1", 0)).toMatchObject({ ok: true });
    expect(canonicalJson("[]", 0)).toMatchObject({ ok: false, error: { code: "too_deep" } });
  });

  it("agrees with JSON.parse about every other text, however it was damaged", () => {
    const damage = fc.array(
      fc.tuple(fc.nat(), fc.nat({ max: 2 }), fc.constantFrom(...'{}[]:,"\\/ \n\u00000123-+.eEutnab')),
      {
        minLength: 1,
        maxLength: 3,
      },
    );
    fc.assert(
      fc.property(written, manners, damage, (value, manner, edits) => {
        const source = edits.reduce(
          (text, [at, removed, added]) => {
            const offset = at % (text.length + 1);
            return text.slice(0, offset) + added + text.slice(offset + removed);
          },
          render(value, manner),
        );
        const reference = parsed(source);
        const result = canonicalJson(source, maxDepth);
        if (result.ok) {
          expect(outline(JSON.parse(result.json.text))).toEqual(outline(reference?.value));
        } else if (result.error.code === "malformed_json") {
          expect(reference === undefined || hasLoneSurrogate(reference.value) || !source.isWellFormed()).toBe(true);
        }
      }),
      { numRuns: countForTier(2_000) },
    );
  });
});

describe("a fault's detail", () => {
  it("says line, column and JSON Pointer", () => {
    const source = '{\n  "list": [\n    {"a/b~": 1},\n    {"x": tru}\n  ]\n}';
    expect(errorIn(source).detail).toBe(
      "Expected a JSON value, found 't' (line 4, column 11, JSON Pointer \"/list/1/x\")",
    );
    expect(errorIn('{"a/b~":[0,01]}').detail).toContain('(line 1, column 12, JSON Pointer "/a~1b~0/1")');
  });

  it("points to the object when a name can't be read, and to the member when its name is taken", () => {
    expect(errorIn('{"a":{"b":1,x}}').detail).toContain('JSON Pointer "/a"');
    expect(errorIn('{"a":{x').detail).toContain('JSON Pointer "/a"');
    expect(errorIn('{"a":1,"b":{"c":1,"c":2}}').detail).toContain('JSON Pointer "/b/c"');
    const many = Array.from({ length: 40 }, (_, index) => `"k${index}":1`).join(",");
    expect(errorIn(`{${many},"z":[x]}`).detail).toContain('JSON Pointer "/z/0"');
  });

  it("counts columns in characters, not in UTF-16 units", () => {
    expect(errorIn('["😀",x]').detail).toContain("column 6,");
  });

  it("repeats no more than a few characters of what was sent", () => {
    const long = "k".repeat(10_000);
    for (const source of [`{"${long}":x}`, `"${long}`, `[${"9".repeat(10_000)}]`, `{"😀${"😀".repeat(99)}":{"b":x}}`]) {
      const { detail } = errorIn(source);
      expect(detail.length).toBeLessThan(200);
      expect(detail.isWellFormed()).toBe(true);
    }
    expect(errorIn('{"a":'.repeat(64).replaceAll("a", "a".repeat(30))).detail.length).toBeLessThan(400);
    expect(errorIn("\u202e1").detail).toContain("U+202E");
  });
});

describe("bytes", () => {
  const bytes = (...parts: (string | number[])[]) =>
    Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : Buffer.from(part))));

  it("are read as UTF-8", () => {
    expect(canonicalJsonOfBytes(bytes('{"é": "😀"}'), maxDepth)).toEqual(canonicalJson('{"é": "😀"}', maxDepth));
    expect(canonicalJsonOfBytes(new Uint8Array([0x31]), maxDepth)).toMatchObject({ ok: true, json: { text: "1" } });
  });

  it("are refused when they start with a byte order mark", () => {
    for (const source of [bytes([0xef, 0xbb, 0xbf], "1"), bytes([0xff, 0xfe], "1\0"), bytes([0xfe, 0xff], "\u00001")]) {
      expect(canonicalJsonOfBytes(source, maxDepth)).toMatchObject({ ok: false, error: { code: "malformed_json" } });
    }
  });

  it("are refused when they are not valid UTF-8: cut, overlong, a surrogate, beyond U+10FFFF", () => {
    for (const broken of [[0xc3], [0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0x80]]) {
      expect(canonicalJsonOfBytes(bytes('"', broken, '"'), maxDepth)).toMatchObject({
        ok: false,
        error: { code: "malformed_json" },
      });
    }
  });
});

it("a text that is read in parts of any length gives what it gives at once, refusals included", () => {
  const sources = fc.tuple(jsonTexts, fc.nat(), fc.constantFrom("", " ", "x", "]", '"')).map(([text, at, added]) => {
    const index = at % (text.length + 1);
    return text.slice(0, index) + added + text.slice(index);
  });
  fc.assert(
    fc.property(sources, fc.integer({ min: 1, max: 9 }), (source, length) => {
      const reader = canonicalReader(Buffer.from(source), maxDepth);
      let result: ReturnType<typeof reader.read>;
      while (result === undefined) result = reader.read(length);
      expect(result).toEqual(canonicalJsonOfBytes(Buffer.from(source), maxDepth));
    }),
  );
});
