// How soon the same thing is put right once more.

import { expect, it } from "vitest";
import { createRepairs } from "../../../../operator/kube/repairs.ts";

let now = 0;

/** Milliseconds that each of so many repairs of the same thing waits. */
function waits(count: number): readonly number[] {
  const repairs = createRepairs(() => now);
  return Array.from({ length: count }, () => {
    const wait = repairs.waitMs("secret", "text");
    now += wait;
    repairs.wrote("secret", "text");
    return wait;
  });
}

it("the first three repairs come at once, then each waits twice as long, five minutes at most", () => {
  const [first, ...repeated] = waits(15);
  expect(first).toBe(0);
  expect(repeated.slice(0, 6)).toEqual([0, 0, 0, 1_000, 2_000, 4_000]);
  expect(repeated.slice(-3)).toEqual([256_000, 300_000, 300_000]);
});

it("something else that is written is no repair, and begins anew", () => {
  const repairs = createRepairs(() => now);
  for (let count = 0; count < 10; count += 1) repairs.wrote("secret", "text");
  expect(repairs.waitMs("secret", "text")).toBeGreaterThan(0);
  expect(repairs.waitMs("secret", "other")).toBe(0);
  expect(repairs.waitMs("elsewhere", "text")).toBe(0);
  repairs.wrote("secret", "other");
  repairs.wrote("secret", "text");
  expect(repairs.waitMs("secret", "text")).toBe(0);
});

it("what was last put right an hour ago is put right at once", () => {
  const repairs = createRepairs(() => now);
  for (let count = 0; count < 30; count += 1) repairs.wrote("secret", "text");
  now += 3_600_000;
  expect(repairs.waitMs("secret", "text")).toBe(0);
});

it("no more than ten thousand targets are remembered", () => {
  const repairs = createRepairs(() => now);
  for (let count = 0; count < 10; count += 1) repairs.wrote("first", "text");
  for (let index = 0; index < 10_000; index += 1) repairs.wrote(`${index}`, "text");
  expect(repairs.waitMs("first", "text")).toBe(0);
});
