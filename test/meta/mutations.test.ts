// The mutations of test/mutations fit the code as it is: a change of the code that makes one of them meaningless shows here, at once,
// and not in the night.

import { existsSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { mutations } from "../mutations/mutations.ts";
import { MutationOutdated, mutatedText } from "../mutations/working-copy.ts";

const root = new URL("../../", import.meta.url);

it.each(mutations)("$name changes a place that is there exactly once, and names tests that exist", (mutation) => {
  const text = readFileSync(new URL(mutation.file, root), "utf8");
  expect(mutatedText(text, mutation)).not.toBe(text);
  expect(mutation.caughtBy.filter((file) => !existsSync(new URL(file, root)))).toEqual([]);
});

it("mutations have different names", () => {
  expect(new Set(mutations.map(({ name }) => name)).size).toBe(mutations.length);
});

it.each([
  ["is gone", "a c"],
  ["stands twice", "a b b"],
])("a mutation whose text %s is outdated", (_how, text) => {
  const mutation = { name: "n", harm: "h", file: "f", find: "b", replace: "c", caughtBy: ["t"] } as const;
  expect(() => mutatedText(text, mutation)).toThrow(MutationOutdated);
});
