// What becomes of the text of a new object where a property of the schema is added to it.

import { expect, it } from "vitest";
import { memberNames, withMember } from "../../../../../pages/console/objects/with-member.ts";

it.each([
  ["{\n  \n}", '{\n  "tags": [\n    "a"\n  ]\n}'],
  ["{}", '{\n  "tags": [\n    "a"\n  ]\n}'],
  ['{"n":9007199254740993 } ', '{"n":9007199254740993,\n  "tags": [\n    "a"\n  ]\n} '],
  ['{\n  "a": {"b": "}"}\n}', '{\n  "a": {"b": "}"},\n  "tags": [\n    "a"\n  ]\n}'],
])("%j gets the member at its end, and stays otherwise as it is", (text, added) => {
  expect(withMember(text, { name: "tags", value: '["a"]' })).toBe(added);
});

it("has the names of an object's members, and none of another text", () => {
  expect([...(memberNames('{"a":1,"b\\n":{"c":2}}') ?? [])]).toEqual(["a", "b\n"]);
  for (const text of ["", "[]", '{"a":']) expect(memberNames(text)).toBeUndefined();
});
