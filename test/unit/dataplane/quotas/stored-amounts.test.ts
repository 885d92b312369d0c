// Names whose objects went may be more than any that are there: what asking for all of them costs a
// replica.

import { expect, it } from "vitest";
import type { UnservedData } from "../../../../core/config/types.ts";
import type { LiveProject } from "../../../../dataplane/config/directory.ts";
import { createUnservedAmounts } from "../../../../dataplane/quotas/stored-amounts.ts";
import type { CollectionSize } from "../../../../dataplane/store/ports/sizes.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";

const named = (count: number): readonly UnservedData[] =>
  Array.from({ length: count }, (_, at) => ({ what: at % 2 === 0 ? "resource" : "rootkey", name: `n${at}` }));

/** Amounts as a store has them where every collection holds this. */
function looking(holds: CollectionSize, unserved: readonly UnservedData[]) {
  let [underWay, most, asked] = [0, 0, 0];
  const answer = async <T>(amounts: T): Promise<T> => {
    asked += 1;
    underWay += 1;
    most = Math.max(most, underWay);
    await new Promise(setImmediate);
    underWay -= 1;
    return amounts;
  };
  const store = {
    collectionSize: () => answer(holds),
    documentSize: () => answer({ bytes: 3, members: 2 }),
  };
  const amounts = createUnservedAmounts(store, manualClock());
  const config = { namespace: "default", name: "shop", unserved, limits: { quota: { bytes: 9, objects: 9 } } };
  const project = { config } as unknown as LiveProject;
  return { look: () => amounts(project), most: () => most, asked: () => asked };
}

it("a thousand are summed, some fifty at a time, and not asked for again", async () => {
  const { look, most, asked } = looking({ objects: 1, bytes: 5, isCounted: true }, named(1_000));
  const read = { amounts: { objects: 500, bytes: 4_000, documentKeys: 1_000 }, uncounted: [] };
  expect(await look()).toEqual(read);
  expect([most(), asked()]).toEqual([50, 1_000]);
  expect(await look()).toEqual(read);
  expect(asked()).toBe(1_000);
});

it("no more than fifty are counted at a time, the others by later looks", async () => {
  const { look, asked } = looking({ objects: 1, bytes: 0, isCounted: false }, named(1_000));
  expect((await look()).uncounted).toHaveLength(50);
  await look();
  expect(asked()).toBe(2_000);
});

it("what holds nothing is not counted: that would leave something behind in the store", async () => {
  const { look } = looking({ objects: 0, bytes: 0, isCounted: false }, named(4));
  expect((await look()).uncounted).toEqual([]);
});

it("nor is what is being purged", async () => {
  const purged = named(4).map((each) => ({ ...each, isPurged: true as const }));
  const { look } = looking({ objects: 1, bytes: 0, isCounted: false }, purged);
  expect((await look()).uncounted).toEqual([]);
});

it("but a resource is counted whose name a root key has that is being purged", async () => {
  const unserved: readonly UnservedData[] = [
    { what: "resource", name: "x" },
    { what: "rootkey", name: "x", isPurged: true },
  ];
  const { look } = looking({ objects: 1, bytes: 0, isCounted: false }, unserved);
  expect((await look()).uncounted).toMatchObject([{ resource: "x" }]);
});
