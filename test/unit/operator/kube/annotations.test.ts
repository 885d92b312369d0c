import { describe, expect, it } from "vitest";
import { annotationsOf, withAnnotations, wordsIn } from "../../../../operator/kube/objects.ts";

describe("annotations of an object", () => {
  it("are none where it has none, or where there is no object", () => {
    expect(annotationsOf({ metadata: { annotations: { one: "1" } } })).toEqual({ one: "1" });
    expect(annotationsOf({ metadata: {} })).toEqual({});
    expect(annotationsOf(undefined)).toEqual({});
  });

  it("are written into a copy, beside those of others and what else the object says", () => {
    const metadata = Object.freeze({ name: "ring", annotations: Object.freeze({ one: "1", other: "stays" }) });
    const object = Object.freeze({ kind: "Secret", metadata });
    expect(withAnnotations(object, { one: "2", two: "2" })).toEqual({
      kind: "Secret",
      metadata: { name: "ring", annotations: { one: "2", two: "2", other: "stays" } },
    });
    expect(withAnnotations({ metadata: {} }, { one: "1" })).toEqual({ metadata: { annotations: { one: "1" } } });
  });

  it("are taken away, name and all, by undefined", () => {
    const { metadata } = withAnnotations({ metadata: { annotations: { one: "1", two: "2" } } }, { one: undefined });
    expect(metadata).toStrictEqual({ annotations: { two: "2" } });
  });
});

it.each([
  [undefined, []],
  ["", []],
  [" , \n", []],
  ["one", ["one"]],
  [" one two,three ,\n\tfour,", ["one", "two", "three", "four"]],
])("of %j the words are %j", (text, words) => {
  expect(wordsIn(text)).toEqual(words);
});
