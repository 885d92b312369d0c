// The promises of objects about pages of large objects: they are read in parts, between which
// others are served, and no further than the caller lets them.

import { beforeEach, describe, expect, it } from "vitest";
import type { Store } from "../../../dataplane/store/port.ts";
import type { PageRange } from "../../../dataplane/store/ports/lists.ts";
import type { CollectionRef } from "../../../dataplane/store/ports/refs.ts";
import { idOf, idsIn, objectOf } from "../../support/store/stored-objects.ts";
import { freshCollection, type MakeStore, useStore } from "./fixture.ts";

const plenty = 1_000_000;
const megabyte = JSON.stringify("x".repeat(1_000_000));
const large = (n: number, m = n) => objectOf(n, { n: String(m), x: megabyte });
const small = (n: number) => objectOf(n, { n: String(n), x: '"y"' });
const range = { offset: 0, limit: 10, descending: false };

type ReadPage = (store: Store, collection: CollectionRef, range: PageRange) => Promise<unknown>;

const ways: readonly (readonly [string, ReadPage])[] = [
  ["by creation", (store, collection, asked) => store.pageByCreation(collection, {}, asked)],
  ["by field", (store, collection, asked) => store.pageByField(collection, {}, { index: "n" }, asked)],
  ["in a walk", (store, collection, asked) => store.pageAfter(collection, {}, undefined, { ...asked, counted: true })],
  [
    "in a walk by field",
    (store, collection, asked) => store.pageAfter(collection, {}, { index: "n" }, { ...asked, counted: true }),
  ],
];

export function describeLongPages(name: string, make: MakeStore): void {
  describe(`${name}: long pages`, () => {
    const subject = useStore(make);
    let collection: CollectionRef;
    beforeEach(async () => {
      collection = freshCollection();
      await subject().store.declareIndexes(collection, [{ name: "n", path: ["n"] }], 1);
      for (let n = 0; n < 6; n += 1) await subject().store.create(collection, n < 2 ? small(n) : large(n), plenty);
    });

    for (const [way, read] of ways) {
      it(`${way}: are whole, and others are served between any two megabytes`, async () => {
        const eventLoopTurns = countTurns();
        const page = await read(subject().store, collection, range);
        expect(eventLoopTurns.stop()).toBeGreaterThanOrEqual(3);
        const texts = [small(0), small(1), large(2), large(3), large(4), large(5)].map(({ text }) => text);
        expect(page).toMatchObject({ count: 6, texts });
      });

      it(`${way}: are read on once the caller lets them, and then as things are, in order`, async () => {
        const { store } = subject();
        let asked = 0;
        const beforeMore = async (): Promise<void> => {
          asked += 1;
          await store.remove(collection, idOf(3), {});
          await store.replace(collection, large(4, 44), large(4));
        };
        const page = (await read(store, collection, { ...range, beforeMore })) as { texts: readonly string[] };
        expect(asked).toBe(1);
        expect(idsIn(page.texts)).toEqual((way.endsWith("field") ? [0, 1, 2, 5, 4] : [0, 1, 2, 4, 5]).map(idOf));
        expect(page.texts).toContain(large(4, 44).text);
      });

      it(`${way}: end with what the caller says`, async () => {
        const beforeMore = () => Promise.reject(new Error("No turn"));
        await expect(read(subject().store, collection, { ...range, beforeMore })).rejects.toThrow("No turn");
        await read(subject().store, collection, { ...range, limit: 2, beforeMore });
      });

      it(`${way}: are cut where they get too long, and nothing is read beyond`, async () => {
        const cut = (await read(subject().store, collection, { ...range, maxBytes: 2_500_000 })) as {
          texts: readonly string[];
        };
        expect(cut).toMatchObject({ count: 6, isCut: true });
        expect(cut.texts.length).toBeLessThanOrEqual(5);
      });

      it(`${way}: are cut by their bytes, of which a character may have several`, async () => {
        const { store } = subject();
        const other = freshCollection();
        await store.declareIndexes(other, [{ name: "n", path: ["n"] }], 1);
        await store.create(other, objectOf(1, { n: "1", x: JSON.stringify("漢".repeat(1_000)) }), plenty);
        expect(await read(store, other, { ...range, maxBytes: 2_900 })).toMatchObject({ isCut: true });
        expect(await read(store, other, { ...range, maxBytes: 3_500 })).not.toMatchObject({ isCut: true });
      });
    }

    it("a scan goes on behind an object, also behind one that is gone", async () => {
      const { store } = subject();
      await store.remove(collection, idOf(2), {});
      for (const visible of [{}, { owner: small(0).owner }]) {
        for (const [after, ids] of [[0, [1, 3, 4, 5]] as const, [2, [3, 4, 5]] as const, [5, []] as const]) {
          const found: string[] = [];
          for await (const texts of store.scan(collection, visible, { after: idOf(after) }))
            found.push(...idsIn(texts));
          expect(found).toEqual(ids.map(idOf));
        }
      }
    });

    it("scans of them, and reading some of them by id, let others be served as well", async () => {
      const { store } = subject();
      for (const batches of [store.scan(collection, {}), store.readObjects(collection, [2, 3, 4, 5].map(idOf))]) {
        const eventLoopTurns = countTurns();
        let seen = 0;
        for await (const batch of batches) seen += batch.filter((text) => text.length > 1_000_000).length;
        expect(seen).toBe(4);
        expect(eventLoopTurns.stop()).toBeGreaterThanOrEqual(3);
      }
    });
  });
}

/** Turns of the event loop until it is stopped. */
function countTurns(): { stop(): number } {
  let eventLoopTurns = 0;
  let next: NodeJS.Immediate;
  const wait = (): void => {
    next = setImmediate(() => {
      eventLoopTurns += 1;
      wait();
    });
  };
  wait();
  return {
    stop() {
      clearImmediate(next);
      return eventLoopTurns;
    },
  };
}
