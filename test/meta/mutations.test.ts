// The mutations of test/mutations fit the code as it is.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../../tools/read-crds.ts";
import { mutate, NotApplicable } from "../mutations/mutate.ts";
import { mutations } from "../mutations/mutations.ts";

it("the function, the change and the tests of every mutation exist", () => {
  for (const { promise, file, fn, change, tests } of mutations) {
    const text = readFileSync(join(root, file), "utf8");
    expect(mutate(file, text, fn, change), promise).not.toBe(text);
    expect(
      tests.filter((test) => !existsSync(join(root, test))),
      promise,
    ).toEqual([]);
  }
});

const code = `
function check(value: number): boolean {
  if (value > limit) return refuse(value);
  const inner = { check: () => again(value) };
  return value === 0 ? inner.check() : true;
}
const other = () => { const again = () => check(1); return again(); };`;

it.each([
  ["check", "return false", "boolean { return false; }"],
  ["other", "return 1", "() => { return 1; };"],
  ["check", "drop refuse", "return undefined;"],
  ["other.again", "drop check", "() => undefined;"],
  ["check", "if limit is true", "if (true) return"],
  ["check", "if value (2) is false", "return false ? inner"],
])("in %s, %s", (fn, change, expected) => {
  expect(mutate("a.ts", code, fn, change)).toContain(expected);
});

it.each([
  ["none", "return 1"],
  ["check", "drop other"],
  ["check", "if nobody is true"],
  ["check", "change"],
  ["check", "return ) {"],
])("in %s, %s is not applicable", (fn, change) => {
  expect(() => mutate("a.ts", code, fn, change)).toThrow(NotApplicable);
});

it("a condition of a script", () => {
  expect(mutate("a.lua", "if a ~= epoch then\nend", "script", "if epoch is false")).toBe("if false then\nend");
});
