// Lists of a resource whose scope changes: from one's own objects to all, and back, while others
// write. What the store keeps for them comes and goes behind it; no list shows an object of
// somebody else's where it may not, or leaves out one that it has to show.

import { expect, it } from "vitest";
import type { Scope } from "../../core/config/types.ts";
import { list, make } from "../support/http/api-calls.ts";
import { apikey, project, withKey, withResource } from "../support/http/projects.ts";
import { describeServedOnBothStores, type Served } from "../support/http/served.ts";
import { eventually } from "../support/time/eventually.ts";

const reading = (read: Scope) =>
  withResource("books", {
    schema: { type: "object", properties: { n: { type: "integer" }, plain: { type: "integer" } } },
    indexes: ["n"],
    scope: { read, write: "Own" },
  });
const shop = project(
  "shop",
  withKey("ann"),
  withKey("bob"),
  withKey("boss", { role: "Administrators" }),
  reading("All"),
);
const callers = ["ann", "bob"] as const;
const queries = ["", "&_sort=-n", "&n:ge=0&_sort=n", "&plain=1", "&_sort=plain", "&_cursor=", "&_sort=n&_cursor="];

describeServedOnBothStores("a resource whose scope changes", (serve) => {
  it("shows all objects, one's own, and all again, in every order and by cursor, while some are written", async () => {
    const served = await serve(shop);
    let made = 0;
    const write = async () => {
      for (const caller of callers) {
        const object = await make(served, "books", { n: made % 5, plain: 1 }, apikey(caller));
        await make(served, "books", { n: made % 3, plain: 1 }, apikey(caller));
        const gone = await make(served, "books", { n: 1, plain: 1 }, apikey(caller));
        await served.send(`/api/books/${object.id}`, { method: "PUT", body: { n: 7, plain: 1 }, as: apikey(caller) });
        await served.send(`/api/books/${gone.id}`, { method: "DELETE", as: apikey(caller) });
      }
      made += 2;
    };
    for (const scope of ["All", "Own", "All", "Own", "Own", "All"] as const) {
      served.change(reading(scope));
      await expectLists(served, scope, made);
      await write();
      await expectLists(served, scope, made);
      await settled(served);
      await write();
      await expectLists(served, scope, made);
    }
  });

  async function settled(served: Served): Promise<void> {
    await eventually(() => expect(served.plane.buildingIndexes()).toEqual([]));
  }

  /** `made` = how many each caller has. */
  async function expectLists(served: Served, scope: Scope, made: number): Promise<void> {
    for (const caller of callers) {
      for (const query of queries) {
        const { items } = await list(served, `books?_limit=100${query}`, apikey(caller));
        const creators = Map.groupBy(items, (item) => item._metadata.creator);
        const found = callers.map((each) => creators.get(each)?.length ?? 0);
        const expected = callers.map((each) => (scope === "All" || each === caller ? made : 0));
        expect([query, caller, found]).toEqual([query, caller, expected]);
      }
    }
    expect((await list(served, "books?_limit=100", apikey("boss"))).items).toHaveLength(2 * made);
  }
});
