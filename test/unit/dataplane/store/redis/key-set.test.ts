// Keys that a set of fixed size holds, forgets and mistakes.

import { expect, it } from "vitest";
import { createKeySet, keyHash } from "../../../../../dataplane/store/redis/objects/batched-reads.ts";

const keys = (count: number, of: string): readonly number[] =>
  Array.from({ length: count }, (_, n) => keyHash(`jp:{${of}}:${n}`));

it("holds what was added until it is deleted", () => {
  const set = createKeySet();
  expect(["", "a", "b", "é😀"].map((key) => set.has(keyHash(key)))).toEqual([false, false, false, false]);
  for (const key of ["", "a", "é😀"]) set.add(keyHash(key));
  set.delete(keyHash("b"));
  expect(["", "a", "b", "é😀"].map((key) => set.has(keyHash(key)))).toEqual([true, true, false, true]);
  set.delete(keyHash("a"));
  expect(["", "a", "b", "é😀"].map((key) => set.has(keyHash(key)))).toEqual([true, false, false, true]);
});

it("holds a thousand keys all the time, whatever the order in which they are added", () => {
  const set = createKeySet();
  for (const key of keys(1_000, "a")) set.add(key);
  for (const key of keys(1_000, "a").toReversed()) set.add(key);
  expect(keys(1_000, "a").filter((key) => !set.has(key))).toEqual([]);
});

it("holds nearly all of ten thousand keys, and takes next to no other one for one of them", () => {
  const set = createKeySet();
  for (const key of keys(10_000, "a")) set.add(key);
  expect(keys(10_000, "a").filter((key) => set.has(key)).length).toBeGreaterThan(9_900);
  expect(keys(10_000, "b").filter((key) => set.has(key)).length).toBeLessThan(5);
});

it("holds the last one of however many", () => {
  const set = createKeySet();
  for (const key of keys(300_000, "a")) {
    set.add(key);
    if (!set.has(key)) expect.fail(String(key));
  }
});
