// How many objects have each value of a field, as `_count_by` answers.

import { beforeAll, expect, it } from "vitest";
import { list, make, outcome } from "../support/http/api-calls.ts";
import { apikey, project, withKey, withResource } from "../support/http/projects.ts";
import { describeServedOnBothStores, type Served } from "../support/http/served.ts";

const [ann, bob, admin] = [apikey("ann"), apikey("bob"), apikey("admin")];
const schema = {
  properties: {
    status: { type: ["string", "null"] },
    price: { type: "number" },
    late: { type: "boolean" },
    any: {},
    tags: { type: "array" },
    address: { type: "object", properties: { city: { type: "string" } } },
  },
} as const;
const shop = project(
  "shop",
  withKey("ann"),
  withKey("bob"),
  withKey("admin", { role: "Administrators" }),
  withResource("orders", { schema, indexes: ["status", "price"], changes: { retentionSeconds: 60, maxEntries: 100 } }),
  withResource("named", { schema: { properties: { _count_by: { type: "string" } } } }),
);

describeServedOnBothStores("a list with _count_by", (serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(shop);
    const rows: readonly (readonly [string, object])[] = [
      [ann, { status: "open", price: 9, late: true, any: [1], address: { city: "Rome" } }],
      [ann, { status: "open", price: 1, any: "é".repeat(512) }],
      [bob, { status: "sent", price: 1, late: true, any: 7 }],
      [bob, { status: null, price: 2, any: { a: 1 } }],
      [ann, { price: 12.5, any: "\u0000\u0001" }],
    ];
    for (const [as, row] of rows) await make(served, "orders", row, as);
  });
  const counts = async (query: string, as = admin) => {
    const { count, ...answer } = (await list(served, `orders?${query}`, as)) as unknown as {
      count: number;
      counts: readonly { readonly value?: unknown; readonly count: number }[];
    };
    expect(answer.counts.reduce((sum, each) => sum + each.count, 0)).toBe(count);
    return answer.counts.map((each) => [each.value, each.count]);
  };

  it("answers each value with its count, ascending, missing as null, in the form of a list without objects", async () => {
    const reply = await served.send("/api/orders?_count_by=status", { as: admin });
    expect(reply.json()).toEqual({
      count: 5,
      counts: [
        { value: null, count: 2 },
        { value: "open", count: 2 },
        { value: "sent", count: 1 },
      ],
      items: [],
      links: { self: `${served.origin}${served.base}/api/orders?_count_by=status` },
    });
    const tag = reply.headers["etag"] ?? "";
    const again = { as: admin, headers: { "if-none-match": tag } };
    expect((await served.send("/api/orders?_count_by=status", again)).status).toBe(304);
  });

  it("counts what filters leave and the caller sees, by fields with and without an index", async () => {
    expect(await counts("_count_by=price")).toEqual([
      [1, 2],
      [2, 1],
      [9, 1],
      [12.5, 1],
    ]);
    expect(await counts("_count_by=status", bob)).toEqual([
      [null, 1],
      ["sent", 1],
    ]);
    expect(await counts("_count_by=price&price:lt=9")).toEqual([
      [1, 2],
      [2, 1],
    ]);
    expect(await counts("_count_by=late&_any=status:open,price:2")).toEqual([
      [null, 2],
      [true, 1],
    ]);
    expect(await counts("_count_by=status&late=true", ann)).toEqual([["open", 1]]);
    expect(await counts("_count_by=address.city&address.city:exists=true")).toEqual([["Rome", 1]]);
    expect(await counts("_count_by=status&price:gt=100")).toEqual([]);
  });

  it("counts arrays, objects and strings from 1,024 bytes on together, last and without a value", async () => {
    expect(await counts("_count_by=any")).toEqual([
      [7, 1],
      ["\u0000\u0001", 1],
      [undefined, 3],
    ]);
  });

  it.each([
    ["_count_by=colour", /must name one field of the schema, which has status/],
    ["_count_by=status,price", /must name one field/],
    ["_count_by=tags", /`tags` holds arrays, which can't be counted by value/],
    ["_count_by=status&_sort=price", /shows no objects; leave `_sort` out/],
    ["_count_by=status&_limit=5", /leave `_limit` out/],
    ["_count_by=status&_position=1", /`_count_by` is for lists/],
  ])("refuses %s", async (query, detail) => {
    const reply = await served.send(`/api/orders?${query}`, { as: admin });
    expect(outcome(reply)).toEqual([400, "invalid_parameter"]);
    expect(reply.json().detail).toMatch(detail);
  });

  it("is a filter, as before, where a property has that name", async () => {
    await make(served, "named", { _count_by: "status" }, ann);
    expect(await list(served, "named?_count_by=status", ann)).toMatchObject({ count: 1, items: [{}] });
  });
});
