// The promises of objects about ranges of ids, in order of creation: pages by offset, walks by
// position, candidates.

import { beforeAll, describe, expect, it } from "vitest";
import type { Store } from "../../../dataplane/store/port.ts";
import type { IdRange, KeysetRange } from "../../../dataplane/store/ports/lists.ts";
import type { CollectionRef, Visibility } from "../../../dataplane/store/ports/refs.ts";
import { idOf, idsIn, objectOf, shuffled } from "../../support/store/stored-objects.ts";
import { freshCollection, type MakeStore, useStore } from "./fixture.ts";

const plenty = 1_000_000;
const visibilities: readonly Visibility[] = [{}, { owner: "user:alice" }, { owner: "user:none" }];
/** Half of the first 20 are alice's. */
const objects = Array.from({ length: 20 }, (_, n) => objectOf(n, {}, n % 2 === 0 ? "user:alice" : "user:bob"));

const ranges: Readonly<Record<string, IdRange>> = {
  everything: { from: "", to: "g" },
  "the first, up to one that is left out": { from: "", to: idOf(5) },
  "from one that is included": { from: idOf(5), to: "g" },
  "a part in the middle, by beginnings of ids": {
    from: "0199b1c0-0000-7000-8000-00000000000",
    to: "0199b1c0-0000-7000-8000-00000000001",
  },
  "what is before all": { from: "", to: "0" },
  "what is after all": { from: "1", to: "g" },
  "nothing, because it ends before it begins": { from: idOf(9), to: idOf(3) },
};

async function walkAll(store: Store, collection: CollectionRef, visible: Visibility, range: KeysetRange) {
  const ids: string[] = [];
  const counts = new Set<number>();
  for (let next: KeysetRange["after"] | "end"; next !== "end"; ) {
    const from: KeysetRange["after"] = next;
    const page = await store.pageAfter(collection, visible, undefined, { ...range, ...(from && { after: from }) });
    if (page.outcome === "not_ready") throw new Error("The order of creation is always there");
    counts.add(page.count);
    if (ids.length > objects.length) throw new Error("The walk comes to no end");
    ids.push(...idsIn(page.texts));
    next = page.next ?? "end";
  }
  return { ids, counts };
}

export function describeIdRanges(name: string, make: MakeStore): void {
  describe(`${name}: ranges of ids`, () => {
    const subject = useStore(make);
    let collection: CollectionRef;
    beforeAll(async () => {
      collection = freshCollection();
      await subject().store.declareIndexes(collection, [], 1);
      for (const object of shuffled(objects)) await subject().store.create(collection, object, plenty);
    });

    const expected = (range: IdRange, { owner }: Visibility, descending: boolean) => {
      const found = objects.filter((each) => each.id >= range.from && each.id < range.to);
      const ids = found.filter((each) => owner === undefined || each.owner === owner).map(({ id }) => id);
      return descending ? ids.toReversed() : ids;
    };

    describe.each(Object.entries(ranges))("%s", (_, ids) => {
      const ways = visibilities.flatMap((visible) => [false, true].map((descending) => ({ visible, descending })));

      it.each(ways)("is paged through and counted: %j", async ({ visible, descending }) => {
        const all = expected(ids, visible, descending);
        for (const [offset, limit] of [
          [0, 3],
          [2, 100],
          [0, 0],
          [50, 3],
        ] as const) {
          const page = await subject().store.pageByCreation(collection, visible, { offset, limit, descending, ids });
          expect(page).toMatchObject({ outcome: "page", count: all.length });
          expect("texts" in page && idsIn(page.texts)).toEqual(all.slice(offset, offset + limit));
        }
      });

      it.each(ways)("is walked through, and a position outside of it opens nothing else: %j", async (way) => {
        const { visible, descending } = way;
        const all = expected(ids, visible, descending);
        const range: KeysetRange = { limit: 3, descending, counted: true, ids };
        expect(await walkAll(subject().store, collection, visible, range)).toEqual({
          ids: all,
          counts: new Set([all.length]),
        });
        for (const id of [idOf(0), idOf(19)]) {
          const after = { value: "", id };
          const page = await subject().store.pageAfter(collection, visible, undefined, { ...range, limit: 100, after });
          const behind = all.filter((each) => (descending ? each < id : each > id));
          expect("texts" in page && idsIn(page.texts)).toEqual(behind);
        }
      });

      it.each(visibilities)("names its candidates, in order: %j", async (visible) => {
        const { store } = subject();
        const all = expected(ids, visible, false);
        expect(await store.candidatesByCreation(collection, visible, ids, 100)).toEqual({ outcome: "found", ids: all });
        const few = await store.candidatesByCreation(collection, visible, ids, Math.max(0, all.length - 1));
        expect(few.outcome).toBe(all.length === 0 ? "found" : "too_many");
      });
    });

    it("is nothing in a collection that is not there", async () => {
      const { store } = subject();
      const ids = { from: "", to: "g" };
      const page = await store.pageByCreation(freshCollection(), {}, { offset: 0, limit: 1, descending: false, ids });
      expect(page).toMatchObject({ outcome: "page", count: 0 });
      expect(await store.candidatesByCreation(freshCollection(), {}, ids, 1)).toEqual({ outcome: "found", ids: [] });
    });
  });
}
