// The operation `increment` of a JSON Patch: exact sums, bounds, and what it refuses.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../../../core/json/canonical.ts";
import { compareNumbers, sumOfNumbers } from "../../../../core/json/decimal.ts";
import { applyJsonPatch } from "../../../../core/json/json-patch.ts";
import { PatchRefusal } from "../../../../core/json/patch-refusal.ts";
import { readJsonPatch } from "../../../../core/json/read-json-patch.ts";

function canonical(text: string): string {
  const result = canonicalJson(text, 100);
  if (!result.ok) throw new Error(result.error.detail);
  return result.json.text;
}

function patched(target: string, patch: string): string {
  try {
    return applyJsonPatch(canonical(target), readJsonPatch(canonical(patch)));
  } catch (error) {
    if (error instanceof PatchRefusal) return `${error.code} ${error.pointer}`;
    throw error;
  }
}

describe("an increment", () => {
  for (const [number, by, sum] of [
    ["5", "-1", "4"],
    ["0", "-1", "-1"],
    ["9007199254740993", "1", "9007199254740994"],
    ["18446744073709551614", "1", "18446744073709551615"],
    ["-9223372036854775807", "-1", "-9223372036854775808"],
    ["18446744073709551615", "-9223372036854775808", "9223372036854775807"],
    ["0.1", "0.2", "0.3"],
    ["1.1", "-0.1", "1.0"],
    ["19.99", "0.01", "20.0"],
    ["5", "0.5", "5.5"],
    ["5", "1.0", "6"],
    ["1.0", "1", "2.0"],
    ["1e300", "-1e300", "0.0"],
    ["-0", "0", "0.0"],
    ["0.5", "1e-7", "0.5000001"],
  ] as const) {
    it(`of ${number} by ${by} leaves ${sum}`, () => {
      const patch = `[{"op":"increment","path":"/a/0","by":${by}}]`;
      expect(patched(`{"a":[${number},1.0],"b":2}`, patch)).toBe(`{"a":[${sum},1.0],"b":2}`);
    });
  }

  it("may reach its bounds and not pass them, and goes by what the operations before left", () => {
    const take = (count: number) => `{"op":"increment","path":"/n","by":-${count},"min":0,"max":9}`;
    expect(patched('{"n":3}', `[${take(3)}]`)).toBe('{"n":0}');
    expect(patched('{"n":3}', `[${take(2)},${take(1)}]`)).toBe('{"n":0}');
    expect(patched('{"n":3}', `[${take(4)}]`)).toBe("increment_out_of_bounds /0/min");
    expect(patched('{"n":3}', `[${take(2)},${take(2)}]`)).toBe("increment_out_of_bounds /1/min");
    expect(patched('{"n":20}', `[${take(1)}]`)).toBe("increment_out_of_bounds /0/max");
    expect(patched("0.1", '[{"op":"increment","path":"","by":0.2,"max":0.3}]')).toBe("0.3");
    expect(patched("9007199254740992", '[{"op":"increment","path":"","by":1,"max":9007199254740992}]')).toBe(
      "increment_out_of_bounds /0/max",
    );
  });

  it("leaves no number that can't be stored", () => {
    for (const [number, by] of [
      ["18446744073709551615", "1"],
      ["-9223372036854775808", "-1"],
      ["1.7e308", "1e308"],
    ]) {
      expect(patched(`${number}`, `[{"op":"increment","path":"","by":${by}}]`)).toBe("increment_out_of_bounds /0/by");
    }
  });

  it("of what is missing or no number is a conflict", () => {
    for (const path of ["/none", "/s", "/l", "/l/1", "/l/-", "/z", ""]) {
      const patch = `[{"op":"increment","path":"${path}","by":1}]`;
      expect([path, patched('{"s":"1","l":[1],"z":null}', patch)]).toEqual([path, "patch_conflict /0/path"]);
    }
  });

  it("without a number to add, with bounds that exclude all, or with another member is no patch", () => {
    for (const [members, pointer] of [
      ['"path":"/n"', ""],
      ['"path":"/n","by":"1"', "/by"],
      ['"path":"/n","by":null', "/by"],
      ['"path":"/n","by":1,"min":"0"', "/min"],
      ['"path":"/n","by":1,"max":[]', "/max"],
      ['"path":"/n","by":1,"min":1,"max":0.5', "/min"],
      ['"path":"/n","by":1,"minimum":0', "/minimum"],
      ['"path":"/n","by":1,"value":1', "/value"],
      ['"path":"n","by":1', "/path"],
      ['"by":1', ""],
    ] as const) {
      expect([members, patched('{"n":1}', `[{"op":"increment",${members}}]`)]).toEqual([
        members,
        `invalid_patch /0${pointer}`,
      ]);
    }
  });
});

const cents = fc.integer({ min: -(10 ** 12), max: 10 ** 12 });
const asText = (value: number) => canonical((value / 100).toFixed(2));

it("sums of amounts in cents are exact, in any order", () => {
  fc.assert(
    fc.property(fc.array(cents, { minLength: 1, maxLength: 20 }), (amounts) => {
      const total = amounts.reduce((sum, amount) => sum + amount, 0);
      const sum = amounts.reduce<string | undefined>((text = "", amount) => sumOfNumbers(text, asText(amount)), "0.0");
      expect(compareNumbers(String(sum), asText(total))).toBe(0);
    }),
  );
});

it("numbers are compared exactly", () => {
  for (const [less, greater] of [
    ["9007199254740992", "9007199254740993"],
    ["1e16", "10000000000000001"],
    ["-1e308", "-1e-308"],
    ["0.3", "0.30000000000000004"],
  ] as const) {
    expect([compareNumbers(less, greater), compareNumbers(greater, less)]).toEqual([-1, 1]);
  }
  expect(compareNumbers("1e16", "10000000000000000.0")).toBe(0);
});
