// JSON Patch and JSON Merge Patch on text: the examples of their RFCs, exact numbers, refusals,
// bounds, and a comparison with a plain model over parsed values.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../../../core/json/canonical.ts";
import { applyJsonPatch } from "../../../../core/json/json-patch.ts";
import { mergePatch } from "../../../../core/json/merge-patch.ts";
import { PatchRefusal } from "../../../../core/json/patch-refusal.ts";
import { maxOperations, readJsonPatch } from "../../../../core/json/read-json-patch.ts";
import { jsonTexts, someKeys } from "../../../support/json/random-json.ts";
import { countForTier } from "../../../support/time/test-tier.ts";
import {
  type ModelOperation,
  type ModelValue,
  modelMerge,
  modelOf,
  modelPatch,
  pathsIn,
  pointerTo,
  textOfModel,
} from "./patch-model.ts";

function canonical(text: string): string {
  const result = canonicalJson(text, 200);
  if (!result.ok) throw new Error(result.error.detail);
  return result.json.text;
}

const patched = (target: string, patch: string): string =>
  applyJsonPatch(canonical(target), readJsonPatch(canonical(patch)));

function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof PatchRefusal) return `${error.code} ${error.pointer}`;
    throw error;
  }
  return "nothing";
}

describe("a merge patch", () => {
  // RFC 7396, appendix A: original, patch, result.
  for (const [original, patch, result] of [
    ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
    ['{"a":"b"}', '{"a":null}', "{}"],
    ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
    ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
    ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
    ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
    ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
    ['["a","b"]', '["c","d"]', '["c","d"]'],
    ['{"a":"b"}', '["c"]', '["c"]'],
    ['{"a":"foo"}', "null", "null"],
    ['{"a":"foo"}', '"bar"', '"bar"'],
    ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
    ["[1,2]", '{"a":"b","c":null}', '{"a":"b"}'],
    ["{}", '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ] as const) {
    it(`makes ${result} of ${original} with ${patch}`, () => expect(mergePatch(original, patch)).toBe(result));
  }

  it("makes an object without nulls where nothing is yet", () => {
    expect(mergePatch(undefined, '{"a":{"b":null,"c":1.0}}')).toBe('{"a":{"c":1.0}}');
    expect(mergePatch(undefined, "[null]")).toBe("[null]");
  });

  it("leaves every number, escape and member that it does not name as it is written", () => {
    const kept = '"b":[18446744073709551615,1.0,-0.0,"\\u0001é"],"10":1,"9":2';
    expect(mergePatch(`{"x":{"y":1,"z":1.0},${kept}}`, '{"x":{"y":9007199254740993}}')).toBe(
      `{"x":{"y":9007199254740993,"z":1.0},${kept}}`,
    );
  });

  it("does on any values what the RFC's function does on parsed ones", () => {
    fc.assert(
      fc.property(jsonTexts, jsonTexts, (target, patch) => {
        const expected = modelMerge(modelOf(target), modelOf(patch));
        expect(ordered(modelOf(mergePatch(target, patch)))).toBe(ordered(expected));
      }),
      { numRuns: countForTier(1_000, 30_000) },
    );
  });

  it("that goes deep in a large text is refused when it takes too much work", () => {
    const deep = (inner: string) => `${'{"a":'.repeat(60)}${inner}${"}".repeat(60)}`;
    expect(mergePatch(deep('"x"'), deep('"y"'))).toBe(deep('"y"'));
    const large = JSON.stringify("x".repeat(1024 * 1024));
    expect(refusal(() => mergePatch(deep(large), deep(`{"b":1}`)))).toBe("patch_too_large ");
  });
});

/**
 * Members in one order: parsing moves digit-like names, and neither RFC says where a new one goes.
 */
function ordered(value: ModelValue): string {
  if (Array.isArray(value)) return `[${value.map(ordered).join(",")}]`;
  if (!(value instanceof Map)) return textOfModel(value);
  const members = [...value].sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${ordered(member)}`).join(",")}}`;
}

describe("a JSON patch", () => {
  // RFC 6902, appendix A, and its kin.
  for (const [what, target, patch, result] of [
    [
      "adds an object member",
      '{"foo":"bar"}',
      '[{"op":"add","path":"/baz","value":"qux"}]',
      '{"foo":"bar","baz":"qux"}',
    ],
    [
      "adds an array element",
      '{"foo":["bar","baz"]}',
      '[{"op":"add","path":"/foo/1","value":"qux"}]',
      '{"foo":["bar","qux","baz"]}',
    ],
    ["removes an object member", '{"baz":"qux","foo":"bar"}', '[{"op":"remove","path":"/baz"}]', '{"foo":"bar"}'],
    [
      "removes an array element",
      '{"foo":["bar","qux","baz"]}',
      '[{"op":"remove","path":"/foo/1"}]',
      '{"foo":["bar","baz"]}',
    ],
    [
      "replaces a value, in its place",
      '{"baz":"qux","foo":"bar"}',
      '[{"op":"replace","path":"/baz","value":"boo"}]',
      '{"baz":"boo","foo":"bar"}',
    ],
    [
      "moves a value",
      '{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}',
      '[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]',
      '{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}',
    ],
    [
      "moves an array element",
      '{"foo":["all","grass","cows","eat"]}',
      '[{"op":"move","from":"/foo/1","path":"/foo/3"}]',
      '{"foo":["all","cows","eat","grass"]}',
    ],
    [
      "tests a value",
      '{"baz":"qux","foo":["a",2,"c"]}',
      '[{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}]',
      '{"baz":"qux","foo":["a",2,"c"]}',
    ],
    [
      "adds a nested member object",
      '{"foo":"bar"}',
      '[{"op":"add","path":"/child","value":{"grandchild":{}}}]',
      '{"foo":"bar","child":{"grandchild":{}}}',
    ],
    [
      "ignores members that it does not know",
      '{"foo":"bar"}',
      '[{"op":"add","path":"/baz","value":"qux","xyz":123}]',
      '{"foo":"bar","baz":"qux"}',
    ],
    [
      "tells ~01 from /",
      '{"/":9,"~1":10}',
      '[{"op":"test","path":"/~01","value":10},{"op":"test","path":"/~1","value":9}]',
      '{"/":9,"~1":10}',
    ],
    [
      "adds an array value at the end by -",
      '{"foo":["bar"]}',
      '[{"op":"add","path":"/foo/-","value":["abc","def"]}]',
      '{"foo":["bar",["abc","def"]]}',
    ],
    [
      "copies a value",
      '{"a":{"b":[1.0]}}',
      '[{"op":"copy","from":"/a/b","path":"/a/c"}]',
      '{"a":{"b":[1.0],"c":[1.0]}}',
    ],
    [
      "adds over a member that is there",
      '{"a":1,"b":2}',
      '[{"op":"add","path":"/a","value":null}]',
      '{"a":null,"b":2}',
    ],
    ["replaces the whole value", '{"a":1}', '[{"op":"replace","path":"","value":[]}]', "[]"],
    ["adds as the whole value", '{"a":1}', '[{"op":"add","path":"","value":5}]', "5"],
    ["takes one part for the whole", '{"a":{"b":1}}', '[{"op":"copy","from":"/a","path":""}]', '{"b":1}'],
    ["moves a value to where it is", '{"a":1,"b":2}', '[{"op":"move","from":"/a","path":"/a"}]', '{"a":1,"b":2}'],
    ["goes by empty names", '{"":{"":1}}', '[{"op":"replace","path":"//","value":2}]', '{"":{"":2}}'],
    ["takes 0 for a name in an object", '{"0":{"-":1}}', '[{"op":"remove","path":"/0/-"}]', '{"0":{}}'],
    [
      "finds __proto__ like any name",
      '{"__proto__":1}',
      '[{"op":"replace","path":"/__proto__","value":2}]',
      '{"__proto__":2}',
    ],
    ["does nothing without operations", '{"b":1.0,"a":1}', "[]", '{"b":1.0,"a":1}'],
    [
      "works on what the operations before left",
      "[]",
      '[{"op":"add","path":"/-","value":{}},{"op":"add","path":"/0/a","value":[1]},{"op":"add","path":"/0/a/0","value":0}]',
      '[{"a":[0,1]}]',
    ],
  ] as const) {
    it(what, () => expect(patched(target, patch)).toBe(result));
  }

  for (const [what, target, value] of [
    ["1 and 1.0", "1", "1.0"],
    ["100 and 1e2", "100", "1e2"],
    ["0 and -0", "0", "-0"],
    ["2^53 however it is written", "9007199254740992", "9007199254740992.0"],
    ["members in another order", '{"a":1,"b":[1,{}]}', '{"b":[1.0,{}],"a":1e0}'],
  ] as const) {
    it(`takes ${what} for the same`, () => {
      expect(patched(target, `[{"op":"test","path":"","value":${value}}]`)).toBe(target);
    });
  }

  for (const [what, target, value] of [
    ["2^53 + 1 and the double beside it", "9007199254740993", "9007199254740992.0"],
    ["2^64 - 1 and 2^64 - 2", "18446744073709551615", "18446744073709551614"],
    ["a number and its text", "10", '"10"'],
    ["null and false", "null", "false"],
    ["an empty array and an empty object", "[]", "{}"],
    ["arrays in another order", "[1,2]", "[2,1]"],
    ["an object with one member more", '{"a":1}', '{"a":1,"b":1}'],
    ["an object with another member", '{"a":1}', '{"b":1}'],
  ] as const) {
    it(`tells ${what} apart`, () => {
      expect(refusal(() => patched(target, `[{"op":"test","path":"","value":${value}}]`))).toBe(
        "patch_conflict /0/value",
      );
    });
  }

  it("refuses as a conflict what does not fit, and names the operation", () => {
    const target = '{"a":{"b":[1]},"s":"x"}';
    for (const [operation, where] of [
      ['{"op":"add","path":"/none/x","value":1}', "path"],
      ['{"op":"add","path":"/s/x","value":1}', "path"],
      ['{"op":"add","path":"/a/b/2","value":1}', "path"],
      ['{"op":"add","path":"/a/b/01","value":1}', "path"],
      ['{"op":"add","path":"/a/b/x","value":1}', "path"],
      ['{"op":"add","path":"/a/b/99999999999999999999","value":1}', "path"],
      ['{"op":"replace","path":"/none","value":1}', "path"],
      ['{"op":"replace","path":"/a/b/-","value":1}', "path"],
      ['{"op":"replace","path":"/constructor","value":1}', "path"],
      ['{"op":"remove","path":"/none"}', "path"],
      ['{"op":"remove","path":"/a/b/1"}', "path"],
      ['{"op":"remove","path":""}', "path"],
      ['{"op":"test","path":"/none","value":null}', "path"],
      ['{"op":"copy","from":"/none","path":"/x"}', "from"],
      ['{"op":"move","from":"/none","path":"/none"}', "from"],
      ['{"op":"move","from":"/a/b/-","path":"/x"}', "from"],
    ] as const) {
      const patch = `[{"op":"test","path":"/s","value":"x"},${operation}]`;
      expect([operation, refusal(() => patched(target, patch))]).toEqual([operation, `patch_conflict /1/${where}`]);
    }
  });

  it("refuses as no patch what is none, whatever is stored", () => {
    for (const [patch, pointer] of [
      ["{}", ""],
      ['"x"', ""],
      ["[1]", "/0"],
      ['[{"path":"/a"}]', "/0"],
      ['[{"op":"add","path":"/a"}]', "/0"],
      ['[{"op":"add","value":1}]', "/0"],
      ['[{"op":"move","path":"/a"}]', "/0"],
      ['[{"op":"merge","path":"/a"}]', "/0/op"],
      ['[{"op":["add"],"path":"/a"}]', "/0/op"],
      ['[{"op":"remove","path":"a"}]', "/0/path"],
      ['[{"op":"remove","path":"#/a"}]', "/0/path"],
      ['[{"op":"remove","path":"/~2"}]', "/0/path"],
      ['[{"op":"remove","path":"/~"}]', "/0/path"],
      ['[{"op":"remove","path":null}]', "/0/path"],
      ['[{"op":"copy","from":"x","path":"/a"}]', "/0/from"],
      ['[{"op":"move","from":"/a","path":"/a/b"}]', "/0/path"],
      ['[{"op":"move","from":"","path":"/a"}]', "/0/path"],
      [`[{"op":"remove","path":"${"/a".repeat(66)}"}]`, "/0/path"],
    ] as const) {
      expect([patch, refusal(() => readJsonPatch(canonical(patch)))]).toEqual([patch, `invalid_patch ${pointer}`]);
    }
  });

  it("has 1,000 operations at most", () => {
    const patch = (operations: number) => `[${Array(operations).fill('{"op":"add","path":"/-","value":1}').join(",")}]`;
    expect(patched("[]", patch(maxOperations))).toBe(`[${Array(maxOperations).fill(1).join(",")}]`);
    expect(refusal(() => patched("[]", patch(maxOperations + 1)))).toBe("patch_too_large ");
  });

  it("that copies what it copied is refused before it fills the memory, and one that moves into itself does not overflow", () => {
    const copies = `[${Array(100).fill('{"op":"copy","from":"","path":"/-"}').join(",")}]`;
    expect(refusal(() => patched('["xxxxxxxxxxxxxxxx"]', copies))).toBe("patch_too_large ");
    const deeper =
      '{"op":"move","from":"/a","path":"/b"},{"op":"add","path":"/a","value":{}},{"op":"move","from":"/b","path":"/a/b"}';
    const nested = patched('{"a":{}}', `[${Array(300).fill(deeper).join(",")}]`);
    expect(nested.length).toBeGreaterThan(1_000);
  });

  it("changes a large text in many places without reading it anew for each", () => {
    const large = JSON.stringify(Array.from({ length: 10_000 }, (_, n) => ({ n, text: "x".repeat(80) })));
    const operations = Array.from({ length: maxOperations }, (_, n) => ({
      op: "replace",
      path: `/${n * 9}/n`,
      value: -1,
    }));
    const result = JSON.parse(patched(large, JSON.stringify(operations))) as { n: number }[];
    expect(result.filter(({ n }) => n === -1)).toHaveLength(maxOperations);
  });

  it("does on any values what the RFC says of parsed ones, step by step and all at once", () => {
    fc.assert(
      fc.property(jsonTexts, fc.array(steps, { maxLength: 12 }), (start, planned) => {
        let model = modelOf(start);
        let text = start;
        const done: string[] = [];
        for (const step of planned) {
          const operation = concrete(step, model);
          const patch = textOfOperation(operation);
          const expected = modelPatch(model, operation);
          const result = attempt(() => applyJsonPatch(text, readJsonPatch(canonical(`[${patch}]`))));
          expect([patch, result === undefined]).toEqual([patch, expected === undefined]);
          if (expected === undefined || result === undefined) continue;
          expect([patch, ordered(modelOf(result))]).toEqual([patch, ordered(expected)]);
          [model, text] = [expected, result];
          done.push(patch);
        }
        expect(applyJsonPatch(start, readJsonPatch(canonical(`[${done.join(",")}]`)))).toBe(text);
      }),
      { numRuns: countForTier(1_000, 30_000) },
    );
  });
});

interface Step {
  readonly op: ModelOperation["op"];
  /** Which of the places that there are. */
  readonly at: number;
  /** A segment behind that place. */
  readonly further: string | undefined;
  readonly from: number;
  /** Undefined = what is there, so that tests hold. */
  readonly value: string | undefined;
}

const steps: fc.Arbitrary<Step> = fc.record({
  op: fc.constantFrom("add", "remove", "replace", "move", "copy", "test"),
  at: fc.nat({ max: 30 }),
  further: fc.option(fc.constantFrom(...someKeys, "2", "a/b", "~1"), { nil: undefined }),
  from: fc.nat({ max: 30 }),
  value: fc.option(jsonTexts, { nil: undefined }),
});

function concrete({ op, at, further, from, value }: Step, model: ModelValue): ModelOperation {
  const paths = pathsIn(model);
  const pathAt = (n: number) => paths[n % paths.length] ?? [];
  const path = further === undefined ? pathAt(at) : [...pathAt(at), further];
  return { op, path, from: pathAt(from), value: value ?? textOfModel(valueIn(model, path)) };
}

function valueIn(model: ModelValue, path: readonly string[]): ModelValue {
  let here: ModelValue | undefined = model;
  for (const segment of path) {
    if (here instanceof Map) here = here.get(segment);
    else here = Array.isArray(here) ? here[Number(segment)] : undefined;
  }
  return here ?? null;
}

function textOfOperation({ op, path, from = [], value = "null" }: ModelOperation): string {
  const pointers = `"path":${JSON.stringify(pointerTo(path))},"from":${JSON.stringify(pointerTo(from))}`;
  return `{"op":"${op}",${pointers},"value":${value}}`;
}

/** Undefined when it is refused. */
function attempt(work: () => string): string | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof PatchRefusal) return undefined;
    throw error;
  }
}
