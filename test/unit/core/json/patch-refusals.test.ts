// What a JSON Patch that fits no array says: `-` is advised only where something can be added.

import { expect, it } from "vitest";
import { applyJsonPatch } from "../../../../core/json/json-patch.ts";
import { PatchRefusal } from "../../../../core/json/patch-refusal.ts";
import { readJsonPatch } from "../../../../core/json/read-json-patch.ts";

function messageOf(operation: string): string {
  try {
    return applyJsonPatch('{"a":[1,2],"s":"text"}', readJsonPatch(`[${operation}]`));
  } catch (error) {
    if (error instanceof PatchRefusal) return error.message;
    throw error;
  }
}

const end = "`-` is the end of the array, where no element exists: use an index such as 0";
const parent = "The parent is an array: use an index such as 0";

it.each([
  ['{"op":"remove","path":"/a/-"}', end],
  ['{"op":"replace","path":"/a/-","value":1}', end],
  ['{"op":"test","path":"/a/-","value":1}', end],
  ['{"op":"copy","from":"/a/-","path":"/b"}', end],
  ['{"op":"add","path":"/a/-/x","value":1}', end],
  ['{"op":"remove","path":"/a/01"}', parent],
  ['{"op":"add","path":"/a/x/y","value":1}', parent],
  ['{"op":"add","path":"/a/x","value":1}', `${parent}, or - to append`],
  ['{"op":"move","from":"/s","path":"/a/x"}', `${parent}, or - to append`],
  ['{"op":"copy","from":"/s","path":"/a/x"}', `${parent}, or - to append`],
])("the refusal of %s advises what would help", (operation, says) => {
  expect(messageOf(operation)).toBe(says);
});
