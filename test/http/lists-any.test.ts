// Lists of objects that match at least one of several filters.

import { afterEach, beforeAll, expect, it } from "vitest";
import { list, make, outcome } from "../support/http/api-calls.ts";
import { closeStreams, follow } from "../support/http/event-stream.ts";
import { apikey, project, withKey, withResource } from "../support/http/projects.ts";
import { describeServedOnBothStores, type Served } from "../support/http/served.ts";

const [ann, bob, admin] = [apikey("ann"), apikey("bob"), apikey("admin")];
const schema = {
  properties: {
    status: { type: "string" },
    price: { type: "number" },
    title: { type: "string" },
    late: { type: "boolean" },
  },
} as const;
const shop = project(
  "shop",
  withKey("ann"),
  withKey("bob"),
  withKey("admin", { role: "Administrators" }),
  withResource("orders", { schema, indexes: ["status", "price", "status,price"] }),
  withResource("followed", { schema, changes: { retentionSeconds: 60, maxEntries: 100 } }),
  withResource("named", { schema: { properties: { _any: { type: "string" } } } }),
);

afterEach(closeStreams);

describeServedOnBothStores("a list with _any", (serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(shop);
    const rows: readonly (readonly [string, object])[] = [
      [ann, { status: "open", price: 9, title: "a, b" }],
      [ann, { status: "open", price: 1, title: "a:b=c" }],
      [bob, { status: "sent", price: 2, title: "\\", late: true }],
      [ann, { status: "sent", price: 7, title: "c" }],
      [ann, { status: "paid", price: 3 }],
    ];
    for (const [n, [as, row]] of rows.entries()) await make(served, "orders", { ...row, n }, as);
  });
  const shown = async (query: Record<string, string>, as = admin) => {
    const { count, items } = await list(served, `orders?${new URLSearchParams(query)}`, as);
    expect(items.length).toBe(Math.min(count, Number(query._limit ?? 10)));
    return items.map(({ n }) => n);
  };

  it("shows what one filter finds or another, each object once, whether they are indexed or not", async () => {
    expect(await shown({ _any: "status:open,price:lt=3" })).toEqual([0, 1, 2]);
    expect(await shown({ _any: "status=open,late=true" })).toEqual([0, 1, 2]);
    expect(await shown({ _any: "status:paid,status:sent,price:gt=100" })).toEqual([2, 3, 4]);
    expect(await shown({ _any: "price:lt=2,price:gt=8", _sort: "-price" })).toEqual([0, 1]);
    expect(await shown({ _any: "title:exists=false" })).toEqual([4]);
  });

  it("is narrowed by other filters, and shows nobody more", async () => {
    expect(await shown({ _any: "status:open,price:lt=3", price: "2" })).toEqual([2]);
    expect(await shown({ _any: "status:open,late:true", "price:lt": "5", _sort: "price" })).toEqual([1, 2]);
    expect(await shown({ _any: "status:open,price:lt=3" }, bob)).toEqual([2]);
    expect(await shown({ _any: "status:open,late:true" }, ann)).toEqual([0, 1]);
  });

  it("takes commas and backslashes of a value behind a backslash, and those of :in behind one more", async () => {
    expect(await shown({ _any: String.raw`title:a\, b,title:\\` })).toEqual([0, 2]);
    expect(await shown({ _any: String.raw`title:in=c\,\\\,,price:9` })).toEqual([0, 3]);
    expect(await shown({ _any: "title=a:b=c,price:9" })).toEqual([0, 1]);
  });

  it("is paged by offset and by cursor, and its links repeat it", async () => {
    const query = "_any=status:open,price:lt=4";
    const page = await list(served, `orders?${query}&_limit=2&_offset=1`, admin);
    expect(page).toMatchObject({ count: 4, items: [{ n: 1 }, { n: 2 }] });
    expect(page.links.next).toContain(`_any=${encodeURIComponent("status:open,price:lt=4")}`);
    for (const [sort, walked] of [
      ["", [0, 1, 2, 4]],
      ["&_sort=-price", [0, 4, 2, 1]],
    ] as const) {
      const found: unknown[] = [];
      for (let next: string | undefined = `orders?${query}&_limit=2&_cursor=${sort}`; next !== undefined; ) {
        const step = await list(served, next, admin);
        found.push(...step.items.map(({ n }) => n));
        next = step.links.next?.slice(step.links.next.indexOf("orders"));
      }
      expect(found).toEqual(walked);
    }
  });

  it.each([
    ["", /must have filters, separated by commas, as in `_any=status:open,price:lt=5`/],
    ["status:open,", /must have filters/],
    ["open", /must have filters/],
    ["colour:red", /Unknown parameter `colour`; allowed are _metadata\.created/],
    ["_limit=5", /Unknown parameter `_limit`/],
    ["price:cheap", /`price` must be a number/],
    ["status:in=a,b", /must have filters/],
    [String.raw`status:a\b`, /`_any`: write `\\,` for a comma/],
    [Array(21).fill("price:1").join(","), /at most 20 filters, those of `_any` among them/],
    [Array(5).fill("title:contains=a").join(","), /at most 4 filters with `:contains`/],
  ])("refuses _any=%s", async (text, detail) => {
    const reply = await served.send(`/api/orders?_any=${encodeURIComponent(text)}`, { as: admin });
    expect(outcome(reply)).toEqual([400, "invalid_parameter"]);
    expect(reply.json().detail).toMatch(detail);
  });

  it("is a filter, as before, where a property has that name", async () => {
    await make(served, "named", { _any: "status:open" }, ann);
    expect(await list(served, "named?_any=status:open", ann)).toMatchObject({ count: 1 });
    expect(await list(served, "named?_any=other", ann)).toMatchObject({ count: 0 });
  });

  it("is followed: an object that matches is sent, and one that no longer does is deleted", async () => {
    const stream = await follow(served, "/api/followed?_any=status:open,price:lt=5", { as: ann });
    const { id } = await make(served, "followed", { status: "sent", price: 3 }, ann);
    await stream.changes(1);
    await served.send(`/api/followed/${id}`, { method: "PUT", body: { price: 8 }, as: ann });
    await make(served, "followed", { status: "paid" }, ann);
    expect(await stream.changes(3)).toMatchObject([
      { event: "put", data: { object: { id, price: 3 } } },
      { event: "delete", data: { id } },
      { event: "delete" },
    ]);
  });
});
