// What the leader takes for gone, because it is published and belongs to no object.

import { describe, expect, it } from "vitest";
import type { DataEntry, DataRecord } from "../../../../operator/model/data-record.ts";
import { leader } from "./maintained-leader.ts";

const projects = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `shop/p-${n}`);

describe("what is published and has no object", () => {
  /** Complete, with these projects published and none of them there. */
  async function completeWithout(gone: readonly string[], present: readonly string[], unknown = "") {
    const world = leader({ keys: present, unknown });
    world.world.published = [...present, ...gone];
    world.maintenance.onSessionBegun([]);
    for (const key of present) world.maintenance.processed(key, true);
    world.taken();
    await world.time.advance(0);
    return world;
  }

  it("is withdrawn by its own reconcile as soon as everything was published", async () => {
    const { taken } = await completeWithout(["shop/gone"], ["shop/a"]);
    expect(taken()).toEqual(["shop/gone bulk"]);
  });

  it("is left alone in a namespace whose objects are not known", async () => {
    const { taken } = await completeWithout(["hidden/gone"], ["shop/a"], "hidden");
    expect(taken()).toEqual([]);
  });

  it("is looked for again after 15 s when it is most of all, and withdrawn when it is still missing", async () => {
    const { taken, time, logged } = await completeWithout(projects(11), ["shop/a"]);
    expect(taken()).toEqual([]);
    expect(logged.at(-1)).toEqual(["warn", expect.stringMatching(/^Mass deletion suspected/), { projects: 11 }]);
    await time.advance(14_999);
    expect(taken()).toEqual([]);
    await time.advance(1);
    expect(taken()).toHaveLength(11);
  });

  it("is not taken for missing a second time by the regular look that comes a moment after the first", async () => {
    const world = leader({ keys: ["shop/a"] });
    const { time, maintenance, taken, count, end } = world;
    world.world.published = ["shop/a", ...projects(11)];
    maintenance.onSessionBegun([]);
    void maintenance.run();
    await time.advance(59_999);
    taken();
    maintenance.processed("shop/a", true);
    await time.advance(14_999);
    expect([taken(), count("published")]).toEqual([[], 1]);
    await time.advance(1);
    expect(taken()).toHaveLength(11);
    end.abort();
  });

  it("is not withdrawn before the caches were compared with the API server, which may bring its objects", async () => {
    const { taken, time, world, count } = await completeWithout(projects(11), ["shop/a"]);
    world.onCall = (call) => {
      if (call === "confirm") world.keys.push(...projects(11));
    };
    await time.advance(15_000);
    expect([count("confirm"), count("published"), taken()]).toEqual([1, 2, []]);
  });

  it("is looked for twice again where the second look failed", async () => {
    const world = leader({ keys: ["shop/a"] });
    const { time, maintenance, taken, failing, count, end } = world;
    world.world.published = ["shop/a", ...projects(11)];
    failing.add("confirm");
    maintenance.onSessionBegun([]);
    maintenance.processed("shop/a", true);
    void maintenance.run();
    await time.advance(15_000);
    taken();
    failing.clear();
    await time.advance(59_999);
    expect([taken(), count("published")]).toEqual([[], 2]);
    await time.advance(1);
    expect(taken()).toHaveLength(11);
    end.abort();
  });

  it("is not withdrawn when its objects are there again by then", async () => {
    const { taken, time, world } = await completeWithout(projects(11), ["shop/a"]);
    world.keys.push(...projects(11));
    await time.advance(15_000);
    expect(taken()).toEqual([]);
  });

  it("is not looked for again once leadership has ended", async () => {
    const { time, end, count } = await completeWithout(projects(11), ["shop/a"]);
    end.abort();
    await time.advance(60_000);
    expect(count("published")).toBe(1);
  });

  it("is looked at, too, when only its purge is left, or data of which nobody has seen the object go", async () => {
    const world = leader({ keys: ["shop/a"] });
    const entry = { what: "resource", name: "books", uid: "u", namespaceUid: "n" } as const;
    const record = (more: Partial<DataEntry>): DataRecord => ({
      policy: "Retain",
      projectUid: "p",
      entries: [{ ...entry, ...more }],
    });
    world.world.records = new Map([
      ["shop/a", record({})],
      ["shop/purged", record({ purgeFromRevision: 3 })],
      ["shop/kept", record({ retained: true })],
      ["shop/guarded", record({ retained: true, guarded: true })],
      ["shop/left", record({})],
    ]);
    world.maintenance.onSessionBegun([]);
    world.taken();
    world.maintenance.processed("shop/a", true);
    await world.time.advance(0);
    expect(world.taken()).toEqual(["shop/purged bulk", "shop/guarded bulk", "shop/left bulk"]);
  });
});
