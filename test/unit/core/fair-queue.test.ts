import { describe, expect, it } from "vitest";
import { FairQueue, type MayHave } from "../../../core/fair-queue.ts";

function queueOf(...items: readonly (readonly [item: string, group: string])[]): FairQueue<string> {
  const queue = new FairQueue<string>();
  for (const [item, group] of items) queue.add(item, group);
  return queue;
}

function drain(queue: FairQueue<string>, mayHave?: MayHave): readonly string[] {
  const items: string[] = [];
  for (let next = queue.shift(mayHave); next !== undefined; next = queue.shift(mayHave)) items.push(next);
  return items;
}

describe("a fair queue", () => {
  it("gives groups turns, and in each group the item that has waited longest", () => {
    const queue = queueOf(["a", "shop"], ["b", "shop"], ["c", "shop"], ["x", "bank"]);
    expect(queue.size).toBe(4);
    expect(drain(queue)).toEqual(["a", "x", "b", "c"]);
    expect([queue.size, queue.shift()]).toEqual([0, undefined]);
  });

  it("adds an item once, and adds it at the end after it was taken", () => {
    const queue = queueOf(["a", "shop"], ["b", "shop"], ["a", "shop"]);
    expect(queue.shift()).toBe("a");
    queue.add("a", "shop");
    expect(drain(queue)).toEqual(["b", "a"]);
  });

  it("passes over groups that may have no turn, which come after all others", () => {
    const queue = queueOf(["a", "shop"], ["x", "bank"], ["y", "bank"]);
    expect(queue.shift((group) => group !== "shop")).toBe("x");
    expect(queue.shift(() => false)).toBeUndefined();
    expect(drain(queue)).toEqual(["a", "y"]);
  });

  it("has an item of several groups come with the first turn of any, and once", () => {
    const queue = queueOf(["a", "shop"], ["shared", "shop"], ["shared", "bank"], ["b", "shop"]);
    expect(drain(queue)).toEqual(["a", "shared", "b"]);
  });

  it("removes an item from every group, whether or not it is the next one", () => {
    const queue = queueOf(["a", "shop"], ["b", "shop"], ["c", "shop"], ["b", "bank"]);
    expect([queue.remove("b"), queue.remove("b"), queue.has("b")]).toEqual([true, false, false]);
    expect(queue.sizeOf("bank")).toBe(0);
    expect(queue.shift(() => false)).toBeUndefined();
    expect(queue.remove("a")).toBe(true);
    expect(drain(queue)).toEqual(["c"]);
  });

  it("names the group with most items, and the last of them", () => {
    const queue = queueOf(["x", "bank"], ["a", "shop"], ["b", "shop"]);
    expect(queue.largest()).toEqual({ group: "shop", last: "b" });
    queue.clear();
    expect([queue.largest(), queue.size, queue.shift()]).toEqual([undefined, 0, undefined]);
  });
});
