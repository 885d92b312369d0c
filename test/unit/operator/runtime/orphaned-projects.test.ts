// What the leader takes for gone, because it is published and belongs to no object.

import { describe, expect, it } from "vitest";
import type { DataEntry, DataInventory } from "../../../../operator/model/data-inventory.ts";
import { leader } from "./maintained-leader.ts";

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

  it("is looked at, too, when only its purge is left, or data of which nobody has seen the object go", async () => {
    const world = leader({ keys: ["shop/a"] });
    const entry = { what: "resource", name: "books", uid: "u", namespaceUid: "n" } as const;
    const inventory = (more: Partial<DataEntry>): DataInventory => ({
      policy: "Retain",
      projectUid: "p",
      entries: [{ ...entry, ...more }],
    });
    world.world.inventories = new Map([
      ["shop/a", inventory({})],
      ["shop/purged", inventory({ purgeFromRevision: 3 })],
      ["shop/kept", inventory({ retained: true })],
      ["shop/guarded", inventory({ retained: true, guarded: true })],
      ["shop/left", inventory({})],
    ]);
    world.maintenance.onSessionBegun([]);
    world.taken();
    world.maintenance.processed("shop/a", true);
    await world.time.advance(0);
    expect(world.taken()).toEqual(["shop/purged bulk", "shop/guarded bulk", "shop/left bulk"]);
  });
});
