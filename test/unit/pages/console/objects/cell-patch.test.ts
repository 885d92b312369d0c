// From a cell of a list to the patch that stores its new value.

import { expect, it } from "vitest";
import { cellPatch } from "../../../../../pages/console/objects/cell-patch.ts";

const item = { id: "1", title: "Emma", author: { name: "Jane" } };

it.each([
  ["replaces a value", ["author", "name"], '"Ada"', '[{"op":"add","path":"/author/name","value":"Ada"}]'],
  ["keeps every digit", ["isbn"], "9007199254740993", '[{"op":"add","path":"/isbn","value":9007199254740993}]'],
  ["adds objects above it", ["a", "b/c", "d"], "1", '[{"op":"add","path":"/a","value":{"b/c":{"d":1}}}]'],
  ["removes what was cleared", ["author", "name"], undefined, '[{"op":"remove","path":"/author/name"}]'],
  ["removes nothing where nothing is", ["isbn"], undefined, "[]"],
])("%s", (_what, path, value, patch) => {
  expect(cellPatch(item, path, value)).toBe(patch);
});
