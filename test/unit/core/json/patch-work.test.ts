// What patches of large texts take: containers are taken apart where a change goes, not as a whole,
// and what that costs is counted.

import { describe, expect, it } from "vitest";
import { EditableArray, EditableObject } from "../../../../core/json/editable.ts";
import { applyJsonPatch } from "../../../../core/json/json-patch.ts";
import { mergePatch } from "../../../../core/json/merge-patch.ts";
import { PatchRefusal, PatchWork } from "../../../../core/json/patch-refusal.ts";
import { maxOperations, readJsonPatch } from "../../../../core/json/read-json-patch.ts";

const mebibyte = 1024 * 1024;
const ones = `[${Array(mebibyte / 2)
  .fill("1")
  .join(",")}]`;
const names = Array.from({ length: 120_000 }, (_, n) => n.toString(36));
const objectOf = (all: readonly string[]) => `{${all.map((name) => `"${name}":1`).join(",")}}`;
const manyMembers = objectOf(names);

const patched = (text: string, operations: readonly object[]): string =>
  applyJsonPatch(text, readJsonPatch(JSON.stringify(operations)));
/** Without a difference of a mebibyte to print. */
const expectText = (text: string, expected: string) => expect(text === expected).toBe(true);
const each = (operation: object) => Array<object>(maxOperations).fill(operation);

describe("a patch of half a million elements", () => {
  it("puts a thousand in front of them, which takes no work per element", () => {
    const result = patched(`{"items":${ones}}`, each({ op: "add", path: "/items/0", value: 2 }));
    expectText(result, `{"items":[${"2,".repeat(maxOperations)}${ones.slice(1)}}`);
  });

  it("takes a thousand from their front and changes a thousand far apart", () => {
    expectText(patched(ones, each({ op: "remove", path: "/0" })), `[${ones.slice(1 + 2 * maxOperations)}`);
    const apart = Array.from({ length: maxOperations }, (_, n) => ({ op: "replace", path: `/${n * 500}`, value: 2 }));
    const result = JSON.parse(patched(ones, apart)) as number[];
    expect(result).toHaveLength(mebibyte / 2);
    expect(result.flatMap((value, n) => (value === 2 ? [n] : []))).toEqual(apart.map((_, n) => n * 500));
  });

  it("reads the array once, and of it no more than a chunk for each change", () => {
    const work = new PatchWork(ones.length + 10 * 4_096);
    const array = new EditableArray(ones, work);
    for (const index of [0, 1, 2, 1_000, 100_000, 400_000, 524_287]) array.insert(index, { content: "2" });
    expect(array.length).toBe(mebibyte / 2 + 7);
    expect(array.text()).toHaveLength(ones.length + 14);
  });
});

describe("a patch of an object with many members", () => {
  it("looks for the first name in the text, and keeps the places of the members only for more", () => {
    const one = new EditableObject(manyMembers, new PatchWork(manyMembers.length));
    one.set("new-0", { content: "2" });
    expect(one.text()).toBe(`${manyMembers.slice(0, -1)},"new-0":2}`);

    const more = new EditableObject(manyMembers, new PatchWork(2 * manyMembers.length));
    more.delete("new-0");
    expect(() => more.delete("new-1")).toThrow(PatchRefusal);
  });

  it("changes, removes and adds a thousand of them, each in its place", () => {
    const operations = names.slice(0, 900).map((name, n) => {
      if (n % 3 === 0) return { op: "remove", path: `/${name}` };
      return { op: "add", path: n % 3 === 1 ? `/${name}` : `/new-${name}`, value: 2 };
    });
    const expected = new Map(names.map((name) => [name, 1]));
    for (const { op, path } of operations) {
      if (op === "remove") expected.delete(path.slice(1));
      else expected.set(path.slice(1), 2);
    }
    const text = Array.from(expected, ([name, value]) => `"${name}":${value}`).join(",");
    expectText(patched(manyMembers, operations), `{${text}}`);
  });

  it("is refused when every member has to be found by its name on both sides", () => {
    const other = objectOf(names.toReversed());
    for (const work of [
      () => patched(manyMembers, [{ op: "test", path: "", value: JSON.parse(other) as unknown }]),
      () => mergePatch(manyMembers, other),
    ]) {
      expect(work).toThrow(expect.objectContaining({ code: "patch_too_large" }));
    }
  });
});
