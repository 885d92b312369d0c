import { expect, it } from "vitest";
import { recentlyUsed } from "../../../core/recently-used.ts";

it("a map of the recently used holds so many entries, and forgets the one that was used longest ago", () => {
  const map = recentlyUsed<number>(3);
  for (const [name, value] of [
    ["a", 1],
    ["b", 2],
    ["c", 3],
  ] as const) {
    map.set(name, value);
  }
  expect(map.get("a")).toBe(1);
  map.set("d", 4);
  map.set("c", 30);
  expect([...map.entries()].sort()).toEqual([
    ["a", 1],
    ["c", 30],
    ["d", 4],
  ]);
  map.delete("a");
  map.set("e", 5);
  expect(map.size).toBe(3);
});
