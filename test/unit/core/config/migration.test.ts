import { expect, it } from "vitest";
import { readMigration } from "../../../../core/config/migration.ts";
import type { JsonObject } from "../../../../core/config/types.ts";

const refusal = (patch: readonly JsonObject[]) => {
  try {
    readMigration(patch);
    return undefined;
  } catch (error) {
    return (error as { readonly pointer?: string }).pointer;
  }
};

it("a migration takes every operation of a PATCH, and may read what the service owns", () => {
  const all: readonly JsonObject[] = [
    { op: "test", path: "/_metadata/creator", value: "ann" },
    { op: "copy", from: "/id", path: "/oldId" },
    { op: "move", from: "/a", path: "/b" },
    { op: "add", path: "/c", value: { d: [null] } },
    { op: "replace", path: "/c/d", value: 1 },
    { op: "remove", path: "/c" },
    { op: "increment", path: "/n", by: 1, min: 0 },
  ];
  expect(readMigration(all).map(({ op }) => op)).toEqual(all.map(({ op }) => op));
});

it("a migration changes neither id nor _metadata, and says which operation would, or is none", () => {
  expect(
    refusal([
      { op: "remove", path: "/a" },
      { op: "replace", path: "/id", value: 1 },
    ]),
  ).toBe("/1/path");
  expect(refusal([{ op: "move", from: "/_metadata/creator", path: "/creator" }])).toBe("/0/from");
  expect(refusal([{ op: "add", path: "a", value: 1 }])).toBe("/0/path");
  expect(refusal([{ op: "increment", path: "/n" }])).toBe("/0");
  expect(refusal([{ op: "remove", path: "/a" }])).toBeUndefined();
});
