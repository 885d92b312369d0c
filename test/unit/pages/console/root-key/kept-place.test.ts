// Whether what a person has seen at a place in an array may be at another place by now.

import { expect, it } from "vitest";
import { hasKeptPlace, leadsThroughArray } from "../../../../../pages/console/root-key/kept-place.ts";

const whole = '{"list":[{"n":1},{"n":2},{"n":3}],"other":{"a":1}}';
const second = { path: ["list", "1"], whole, value: '{"n":2}' };

it.each([
  ["changed in its place", '[{"n":1},{"n":9},{"n":3}]', true],
  ["unchanged, while other lists are", '[{"n":1},{"n":2},{"n":3}]', true],
  ["moved by one that was removed", '[{"n":2},{"n":3}]', false],
  ["moved by one that was inserted", '[{"n":0},{"n":1},{"n":2},{"n":3}]', false],
  ["moved by both", '[{"n":2},{"n":3},{"n":4}]', false],
  ["gone with the list", "{}", false],
])("an element is %s", (_what, list, isKept) => {
  expect(hasKeptPlace(second, `{"list":${list},"other":{"a":2}}`)).toBe(isKept);
});

it("also counts for what is inside of an element", () => {
  const inside = { path: ["list", "1", "n"], whole, value: "2" };
  expect(hasKeptPlace(inside, '{"list":[{"n":1},{"n":9},{"n":3}]}')).toBe(true);
  expect(hasKeptPlace(inside, '{"list":[{"n":1},{},{"n":3}]}')).toBe(true);
  expect(hasKeptPlace(inside, '{"list":[{"n":2},{"n":3}]}')).toBe(false);
});

it("is not known where the value was read after the list had changed", () => {
  expect(hasKeptPlace({ ...second, value: '{"n":3}' }, whole)).toBe(false);
});

it("is known of members, which have names", () => {
  expect(hasKeptPlace({ path: ["other", "a"], whole, value: "1" }, "{}")).toBe(true);
  expect(leadsThroughArray(["other", "a"], whole)).toBe(false);
  expect(leadsThroughArray(["list"], whole)).toBe(false);
  expect(leadsThroughArray(["list", "1", "n"], whole)).toBe(true);
});
