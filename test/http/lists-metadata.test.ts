// Lists filtered by what the server says of an object: when it was created, and by whom.

import { beforeAll, describe, expect, it } from "vitest";
import { list, make, outcome } from "../support/http/api-calls.ts";
import { apikey, project, withKey, withResource } from "../support/http/projects.ts";
import { describeServedOnBothStores, type Served } from "../support/http/served.ts";
import { manualClock } from "../support/time/manual-clock.ts";

const boss = apikey("boss");
const start = 1_760_000_000;
const schema = { type: "object", properties: { n: { type: "integer" }, parity: { type: "string" } } } as const;
const shop = project(
  "shop",
  withKey("boss", { role: "Administrators" }),
  withKey("ann"),
  withKey("bob"),
  withResource("notes", { schema, indexes: ["parity"] }),
  withResource("literal", { schema: { properties: { "_metadata.created": { type: "string" } } } }),
);

describeServedOnBothStores("a list filtered by metadata", (serve) => {
  let served: Served;
  beforeAll(async () => {
    const clock = manualClock(start * 1000);
    served = await serve(shop, { clock });
    // One object a second, ann's and bob's by turns; the last one is late in its second.
    for (let n = 0; n < 6; n += 1) {
      if (n === 5) clock.advance(999);
      await make(served, "notes", { n, parity: n % 2 === 0 ? "even" : "odd" }, apikey(n % 2 === 0 ? "ann" : "bob"));
      clock.advance(1000);
    }
  });
  const found = async (query: string, as = boss) =>
    (await list(served, `notes?${query}`, as)).items.map(({ n }) => n as number);

  it.each([
    [`_metadata.created=${start + 2}`, [2]],
    [`_metadata.created:ge=${start + 4}`, [4, 5]],
    [`_metadata.created:gt=${start + 4}`, [5]],
    [`_metadata.created:lt=${start + 2}`, [0, 1]],
    [`_metadata.created:le=${start + 2}`, [0, 1, 2]],
    [`_metadata.created:le=${start + 5}`, [0, 1, 2, 3, 4, 5]],
    [`_metadata.created:ge=${start + 1.5}&_metadata.created:lt=${start + 3.5}`, [2, 3]],
    [`_metadata.created:ge=${start + 3}&_metadata.created:lt=${start + 3}`, []],
    ["_metadata.created:ge=-1", [0, 1, 2, 3, 4, 5]],
    ["_metadata.created:ge=1e300", []],
    [`_metadata.created:ge=${start + 3}&_sort=-id`, [5, 4, 3]],
    [`_metadata.created:ge=${start + 3}&_sort=-_metadata.created`, [5, 4, 3]],
    [`_metadata.created:ge=${start + 1}&_sort=parity,-n`, [4, 2, 5, 3, 1]],
    [`_metadata.created:ge=${start + 1}&parity=even`, [2, 4]],
    [`_metadata.created:ge=${start + 1}&n:le=3`, [1, 2, 3]],
    [`_metadata.created:ne=${start + 1}`, [0, 2, 3, 4, 5]],
    [`_metadata.created:in=${start},${start + 3}`, [0, 3]],
    ["_metadata.creator=ann", [0, 2, 4]],
    ["_metadata.creator:ne=ann", [1, 3, 5]],
    ["_metadata.creator=ann&_metadata.creator_type=user", []],
    [`_metadata.creator=bob&_metadata.created:lt=${start + 3}`, [1]],
    ["_metadata.creator=bob&parity=odd&_sort=-n", [5, 3, 1]],
  ])("finds for %s exactly those objects", async (query, numbers) => {
    expect(await found(query)).toEqual(numbers);
  });

  it("counts and pages through a range of time, by offset and by cursor", async () => {
    const query = `_metadata.created:ge=${start + 1}&_metadata.created:le=${start + 4}`;
    const page = await list(served, `notes?_limit=2&_offset=1&${query}`, boss);
    expect([page.count, page.items.map(({ n }) => n)]).toEqual([4, [2, 3]]);
    expect(page.links.next).toContain("_offset=3&_metadata.created%3Age=");
    const first = await list(served, `notes?_limit=3&_cursor=&${query}`, boss);
    expect([first.count, first.items.map(({ n }) => n)]).toEqual([4, [1, 2, 3]]);
    const rest = await list(served, `notes?${first.links.next?.split("?")[1]}`, boss);
    expect([rest.items.map(({ n }) => n), rest.links.next]).toEqual([[4], undefined]);
  });

  it("shows nobody more than without a filter", async () => {
    expect(await found(`_metadata.created:ge=${start + 1}`, apikey("ann"))).toEqual([2, 4]);
    expect(await found("_metadata.creator=bob", apikey("ann"))).toEqual([]);
  });

  describe("is refused", () => {
    it.each([
      "_metadata.created=yesterday",
      "_metadata.created:ge=2026-01-01",
      `_metadata.created=${start + 0.5}`,
      "_metadata.created:like=1",
      "_metadata.other=1",
      "_metadata=1",
      "id=1",
    ])("for %s", async (query) => {
      expect(outcome(await served.send(`/api/notes?${query}`, { as: boss }))).toEqual([400, "invalid_parameter"]);
    });
  });

  it("takes a property that is literally named so for itself", async () => {
    await make(served, "literal", { "_metadata.created": "long ago" }, boss);
    expect(await list(served, "literal?_metadata.created=long+ago", boss)).toMatchObject({ count: 1 });
  });
});
