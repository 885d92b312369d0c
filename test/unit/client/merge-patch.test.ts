// What a live list shows of a change before the server has it: RFC 7396, with its own examples.

import { expect, it } from "vitest";
import { hasMerged, mergePatch } from "../../../client/merge-patch.ts";

it.each([
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: { b: "c", d: 1 } }, { a: { b: "d", c: null } }, { a: { b: "d", d: 1 } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [{ e: 1 }, { a: { bb: { ccc: null } } }, { e: 1, a: { bb: {} } }],
  [
    ["a", "b"],
    ["c", "d"],
    ["c", "d"],
  ],
  [{ a: 1 }, JSON.parse('{"__proto__":{"b":2}}'), JSON.parse('{"a":1,"__proto__":{"b":2}}')],
])("%j with %j is %j, and to merge it again changes nothing", (target, patch, merged) => {
  expect(JSON.stringify(mergePatch(target, patch))).toBe(JSON.stringify(merged));
  expect([hasMerged(merged, patch), hasMerged(target, patch)]).toEqual([true, false]);
});
