import { expect, it } from "vitest";
import { parseOrUndefined } from "../../../../core/json/parse-or-undefined.ts";

it.each([
  ['{"a":[1]}', { a: [1] }],
  ["null", null],
  ["", undefined],
  ['{"secret":', undefined],
])("%j is parsed, or answered with undefined", (text, value) => {
  expect(parseOrUndefined(text)).toEqual(value);
});
