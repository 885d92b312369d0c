// The promise of creates whose id an object has already, as when an import is repeated.

import { describe, expect, it } from "vitest";
import { encodeSortValue } from "../../../dataplane/store/order.ts";
import type { Store } from "../../../dataplane/store/port.ts";
import type { CollectionRef } from "../../../dataplane/store/ports/refs.ts";
import { objectOf } from "../../support/store/stored-objects.ts";
import { freshCollection, type MakeStore, useStore } from "./fixture.ts";

const plenty = 1_000_000;

export function describeTakenIds(name: string, make: MakeStore): void {
  describe(`${name}: creates with the id of an object`, () => {
    const subject = useStore(make);
    it("leave the object as it is, created alone or with others", async () => {
      const { store } = subject();
      const collection = freshCollection();
      const fields = [{ name: "n", path: ["n"] }];
      await store.declareIndexes(collection, fields, 1);
      const first = objectOf(1, { n: "1" }, "user:alice");
      await store.create(collection, first, plenty);
      const again = objectOf(1, { n: "2" }, "user:bob");
      expect(await store.create(collection, again, plenty)).toEqual({ outcome: "exists" });
      const together = [again, objectOf(2, { n: "2" }), objectOf(2, { n: "3" }), first];
      const answers = await Promise.all(together.map((object) => store.create(collection, object, plenty)));
      expect(answers.map(({ outcome }) => outcome)).toEqual(["exists", "created", "exists", "exists"]);
      expect(await everyText(store, collection)).toEqual([first.text, objectOf(2, { n: "2" }).text]);
      for (const [value, found] of [
        ["1", 1],
        ["2", 1],
        ["3", 0],
      ] as const) {
        const query = { index: "n", equals: encodeSortValue(value) };
        const page = await store.pageByField(collection, {}, query, { offset: 0, limit: 10, descending: false });
        expect(page).toMatchObject({ count: found });
      }
      expect(await store.count(collection, { owner: "user:bob" })).toBe(0);
    });
  });
}

async function everyText(store: Store, collection: CollectionRef): Promise<readonly string[]> {
  const texts: string[] = [];
  for await (const some of store.scan(collection, {}, {})) texts.push(...some);
  return texts;
}
