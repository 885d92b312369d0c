import { describe, expect, it } from "vitest";
import { childPointer, pointerOf, segmentsOf, valueAtPointer } from "../../../../core/json/json-pointer.ts";

describe("a JSON Pointer", () => {
  it.each([
    ["", []],
    ["/", [""]],
    ["/a/0", ["a", "0"]],
    ["/a~1b/~0/~01", ["a/b", "~", "~1"]],
  ])("%j is written and read with its escapes", (pointer, segments) => {
    expect(pointerOf(segments)).toBe(pointer);
    expect(segmentsOf(pointer)).toEqual(segments);
  });

  it("grows by a name or an index", () => {
    expect(childPointer("/a", "b/c")).toBe("/a/b~1c");
    expect(childPointer("", 0)).toBe("/0");
  });

  it("is read up to a limit", () => {
    expect(segmentsOf("/a/b/c", 2)).toEqual(["a", "b"]);
  });

  it.each([
    ["", { a: [1, { "b/c": null }] }],
    ["/a/0", 1],
    ["/a/1/b~1c", null],
    ["/a/2", undefined],
    ["/a/length", undefined],
    ["/constructor", undefined],
    ["/a/0/b", undefined],
  ])("%j leads to %j", (pointer, expected) => {
    expect(valueAtPointer({ a: [1, { "b/c": null }] }, pointer)).toEqual(expected);
  });
});
