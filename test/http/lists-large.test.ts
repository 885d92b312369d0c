// What lists answer where a scan would read more than 10,000 objects or 64 MiB, or would keep more
// than 16 MiB for the page.

import { beforeAll, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import type { Scope } from "../../core/config/types.ts";
import { createObjectIds } from "../../dataplane/objects/object-ids.ts";
import { list, outcome } from "../support/http/api-calls.ts";
import { apikey, project, withKey, withResource } from "../support/http/projects.ts";
import { describeServed, type Served } from "../support/http/served.ts";
import { eventually } from "../support/time/eventually.ts";

const key = apikey("boss");
const schema = {
  type: "object",
  properties: {
    indexed: { type: "integer" },
    same: { type: "integer" },
    plain: { type: "integer" },
    late: { type: "integer" },
    text: { type: "string" },
    word: { type: "string" },
  },
} as const;
const shop = project(
  "shop",
  withKey("boss", { role: "Administrators" }),
  withKey("small"),
  withResource("many", { schema, indexes: ["indexed", "same", "word"] }),
);

describeServed("a collection of more than 10,000 objects", (serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(shop);
    // The first request declares the indexes.
    await list(served, "many", key);
    await fill(served, 10_001);
  });
  const ask = (query: string, as: string = key) => served.send(`/api/many?${query}`, { as });

  it("is listed, sorted and filtered by an indexed field", async () => {
    expect(await list(served, "many?_limit=1", key)).toMatchObject({ count: 10_001, items: [{ indexed: 0 }] });
    expect(await list(served, "many?_limit=1&_sort=-indexed", key)).toMatchObject({ items: [{ indexed: 99 }] });
    expect(await list(served, "many?_limit=2&indexed=7&_offset=99", key)).toMatchObject({ count: 100 });
    expect((await list(served, "many?_offset=9999", key)).items.length).toBe(2);
  });

  it("can't be sorted by a field without an index, and the refusal says what to add", async () => {
    const reply = await ask("_sort=plain");
    expect(outcome(reply)).toEqual([400, "sort_not_indexed"]);
    expect(reply.json().detail).toMatch(/plain.*spec\.indexes/);
  });

  it.each([
    ["a field without an index", "plain=1"],
    ["two fields that too many objects have alike", "same=1&plain=1"],
    ["one field that too many have alike with another sort", "same=1&_sort=plain"],
    ["_any of an indexed field and one without an index", "_any=indexed:7,plain:1"],
    ["_any that too many objects match", "_any=indexed:7,same:1"],
  ])("can't be filtered by %s", async (_what, query) => {
    expect(outcome(await ask(query))).toEqual([400, "query_too_expensive"]);
  });

  it.each([
    ["same=1&plain=1", /add `same,plain` to spec\.indexes/],
    ["same=1&_sort=-plain", /add `same,plain` to spec\.indexes/],
    ["same=1&plain:ge=5&_sort=plain", /add `same,plain` to spec\.indexes/],
    ["plain:ge=5&_sort=plain", /add `plain` to spec\.indexes/],
    ["plain:ge=5&_sort=plain,same", /add `plain,same` to spec\.indexes/],
    ["_sort=plain,same", /add `plain,same` to spec\.indexes/],
    ["indexed:ge=0", /add `_sort=indexed`; in this order, the index `indexed` answers the query/],
    ["plain:ge=0", /add `_sort=plain`; in this order, an index `plain` in spec\.indexes/],
    ["same=1&indexed:ge=0", /add `_sort=indexed`; in this order, an index `same,indexed` in spec\.indexes/],
    ["plain=1&late=1&same=1", /add `plain` to spec\.indexes.*only objects that match its filter are read/],
    ["indexed:ge=0&_sort=plain,-same", /a filter on an indexed field that fewer objects match/],
    ["plain:exists=true&_sort=late", /add `plain`/],
    ["text:contains=x&text:ge=a&_sort=text", /add `text` to spec/],
    ["indexed:ge=0&_sort=same", /a filter on an indexed field that fewer objects match, or sort by `indexed` alone/],
    ["same=1&late=1&plain=1&_sort=indexed", /add `late` to spec\.indexes.*only objects that match its filter/],
    ["word:contains=x&word:ge=a&_sort=word", /no index answers `word:contains`; add another filter/],
    ["_any=indexed:7,plain:1,late:1,plain:2", /add `plain`, `late` to spec\.indexes .*, for the filters of `_any`/],
    ["text:contains=x&_sort=indexed", /no index answers `text:contains`; add another filter, on an indexed field/],
  ])("is refused with the index that would help: %s", async (query, detail) => {
    const reply = await ask(query);
    expect(reply.status).toBe(400);
    expect(reply.json().detail).toMatch(detail);
  });

  it("answers a range of the time of creation at any size, and other filters beside one that few objects match", async () => {
    const { items, count } = await list(served, "many?_metadata.created:gt=0&_limit=1&_offset=10000", key);
    expect([count, items]).toMatchObject([10_001, [{ plain: 10_000 }]]);
    const future = "many?_metadata.created:gt=4000000000&plain:ge=0&_sort=-plain";
    expect(await list(served, future, key)).toMatchObject({ count: 0 });
    for (const query of ["_metadata.creator=boss", "_metadata.created:gt=0&_metadata.creator=boss"]) {
      const reply = await ask(query);
      expect(outcome(reply)).toEqual([400, "query_too_expensive"]);
      expect(reply.json().detail).toContain("an indexed field or a range of `_metadata.created`");
    }
    const unindexed = await ask("_metadata.created:gt=0&plain=1");
    expect(unindexed.json().detail).toContain("add `plain` to spec.indexes");
  });

  it("answers several filters where an index finds few candidates", async () => {
    expect(await list(served, "many?indexed=7&plain:lt=300", key)).toMatchObject({ count: 3 });
    const { items } = await list(served, "many?indexed=7&_sort=-plain&_limit=2", key);
    expect(items).toMatchObject([{ plain: 9907 }, { plain: 9807 }]);
    expect(await list(served, "many?indexed:in=7,8&same=1&plain:ge=9907", key)).toMatchObject({ count: 2 });
  });

  it("counts by an indexed field at any size, else what filters leave within the bound", async () => {
    const reply = await ask("_count_by=indexed");
    const { count, counts } = reply.json<{ count: number; counts: readonly object[] }>();
    expect([count, counts.length, counts[1]]).toEqual([10_001, 100, { value: 1, count: 100 }]);
    expect((await ask("_count_by=plain&indexed=7")).json()).toMatchObject({ count: 100 });
    for (const [query, detail] of [
      ["_count_by=plain", /add `plain` to spec\.indexes .*, by which objects are counted at any size/],
      ["_count_by=late&same=1", /add `same,late` to spec\.indexes/],
      ["_count_by=indexed&plain:gt=0&late:gt=0", /add `plain` to spec\.indexes/],
    ] as const) {
      const refused = await ask(query);
      expect(outcome(refused)).toEqual([400, "query_too_expensive"]);
      expect(refused.json().detail).toMatch(detail);
    }
    const fields = await ask("_count_by=plain&plain:lt=1001&indexed:exists=true&_metadata.created:gt=4000000000");
    expect(fields.json()).toMatchObject({ count: 0 });
  });

  it("answers _any where indexes find few candidates, or a further filter does", async () => {
    expect(await list(served, "many?_any=indexed:7,word:gt=a,indexed:gt=98&_limit=2&_offset=199", key)).toMatchObject({
      count: 200,
      items: [{ plain: 9999 }],
    });
    expect(await list(served, "many?_any=plain:7,late:gt=9900&indexed=7", key)).toMatchObject({ count: 2 });
  });

  it("answers a range of any size in its own order, page and count, and by cursor", async () => {
    expect(await list(served, "many?indexed:gt=0&_sort=indexed&_limit=1", key)).toMatchObject({
      count: 9900,
      items: [{ indexed: 1 }],
    });
    const query = "many?indexed:ne=99&_sort=-indexed&_limit=1&_cursor=";
    expect(await list(served, query, key)).toMatchObject({ count: 9901, items: [{ indexed: 98 }] });
    const last = await list(served, "many?indexed:gt=0&_sort=indexed&_limit=2&_offset=9899", key);
    expect(last.items).toMatchObject([{ indexed: 99, plain: 9999 }]);
  });

  it("can be scanned by those who see few of its objects", async () => {
    const small = apikey("small");
    await served.send("/api/many", { method: "POST", body: { plain: 5 }, as: small });
    await served.send("/api/many", { method: "POST", body: { plain: 4 }, as: small });
    const page = (await ask("_sort=plain", small)).json<{ items: { plain: number }[] }>();
    expect(page.items.map((item) => item.plain)).toEqual([4, 5]);
    expect((await ask("plain=5", small)).json()).toMatchObject({ count: 1 });
  });

  it("answers by an index of two fields, once it is built", async () => {
    served.change(withResource("many", { schema, indexes: ["indexed", "same", "same,plain"] }));
    const first = await untilBuilt(() => ask("same=1&_sort=-plain&_limit=2"));
    expect(first).toMatchObject({ count: 10_001, items: [{ plain: 10_000 }, { plain: 9_999 }] });
    expect((await ask("same=1&plain:lt=10&_sort=plain&_limit=1")).json()).toMatchObject({
      count: 10,
      items: [{ plain: 0 }],
    });
    expect((await ask("same=1&plain=77")).json()).toMatchObject({ count: 1, items: [{ plain: 77 }] });
    expect((await ask("_sort=-same,-plain&_limit=1")).json()).toMatchObject({ items: [{ plain: 10_000 }] });
    expect((await ask("same:ge=0&_sort=same,plain&_limit=1&_offset=5000")).json()).toMatchObject({
      items: [{ plain: 5_000 }],
    });
    const walk = (await ask("same=1&_sort=plain&_limit=3&_cursor=")).json<{ links: { next: string } }>();
    const next = await served.send(`/api/many${new URL(walk.links.next).search}`, { as: key });
    expect(next.json()).toMatchObject({ count: 10_001, items: [{ plain: 3 }, { plain: 4 }, { plain: 5 }] });
    // In neither order alone does it stand.
    expect(outcome(await ask("_sort=same,-plain"))).toEqual([400, "sort_not_indexed"]);
    expect(outcome(await ask("_sort=plain"))).toEqual([400, "sort_not_indexed"]);
  });

  it("answers 503 with Retry-After while a new index is filled, then sorts by it", async () => {
    served.change(withResource("many", { schema, indexes: ["indexed", "same", "late"] }));
    const early = await ask("_sort=late");
    expect(outcome(early)).toEqual([503, "index_building"]);
    const project = `${served.namespace}/shop`;
    expect(served.plane.buildingIndexes()).toEqual([{ project, resource: "many", indexes: ["late"] }]);
    expect(Number(early.headers["retry-after"])).toBeGreaterThanOrEqual(1);
    expect((await ask("_sort=indexed&_limit=1")).status).toBe(200);
    const { items } = await untilBuilt(() => ask("_sort=-late&_limit=1"));
    expect(items).toMatchObject([{ late: 10_000 }]);
    expect((await ask("late=17")).json()).toMatchObject({ count: 1, items: [{ late: 17 }] });
    await eventually(() => expect(served.plane.buildingIndexes()).toEqual([]));
  });

  it("answers 503 to those who see few of its objects while its lists begin to show only these, then lists them", async () => {
    const small = apikey("small");
    const reading = (read: Scope) => withResource("many", { schema, indexes: ["indexed", "same"], scope: { read } });
    served.change(reading("All"));
    expect((await ask("_limit=1", small)).json()).toMatchObject({ count: 10_003 });
    await eventually(() => expect(served.plane.buildingIndexes()).toEqual([]));
    served.change(reading("Own"));
    for (const query of ["", "_cursor=", "_sort=indexed", "plain=5", "_sort=plain"]) {
      const early = await ask(query, small);
      expect([query, ...outcome(early)]).toEqual([query, 503, "index_building"]);
      expect(Number(early.headers["retry-after"])).toBeGreaterThanOrEqual(1);
    }
    const project = `${served.namespace}/shop`;
    expect(served.plane.buildingIndexes()).toEqual([{ project, resource: "many", indexes: ["_metadata.creator"] }]);
    expect((await ask("_limit=1")).json()).toMatchObject({ count: 10_003 });
    expect(await untilBuilt(() => ask("", small))).toMatchObject({ count: 2, items: [{ plain: 5 }, { plain: 4 }] });
    expect((await ask("_sort=indexed", small)).json()).toMatchObject({ count: 2 });
  });
});

/** Straight into the store: the test is about reading. */
describeServed("a collection of more than 64 MiB", (serve) => {
  let served: Served;
  beforeAll(async () => {
    const fields = { properties: { n: { type: "integer" }, pad: { type: "string" } }, type: "object" } as const;
    served = await serve(project("shop", withKey("boss"), withResource("large", { schema: fields })));
    const pad = "x".repeat(1_000_000);
    for (let n = 0; n < 70; n += 1) {
      const made = await served.send("/api/large", { method: "POST", body: { n, pad }, as: key });
      if (made.status !== 201) throw new Error(made.text);
    }
  });
  const refusal = async (query: string) => {
    const reply = await served.send(`/api/large?${query}`, { as: key });
    return [...outcome(reply), reply.json().detail];
  };

  it("is refused for what would be read, and not for the number of its objects", async () => {
    const advice = "add `n` to spec.indexes of the ApiResource, which answers this query at any size";
    expect(await refusal("_sort=n&_limit=2")).toEqual([
      400,
      "sort_not_indexed",
      `This query would sort more than 64 MiB of objects without an index; ${advice}`,
    ]);
    expect(await refusal("n=1&_limit=2")).toEqual([
      400,
      "query_too_expensive",
      `This query would read more than 64 MiB of objects; ${advice}`,
    ]);
  });

  it("is refused for what a page would hold, with a smaller _limit as the way out", async () => {
    const smaller = "ask for fewer with a smaller `_limit`";
    expect(await refusal("_sort=n&_limit=30")).toEqual([
      400,
      "sort_not_indexed",
      `The objects of this page have more than 16 MiB; ${smaller}`,
    ]);
    expect(await refusal("_sort=n&_limit=2&_offset=30")).toEqual([
      400,
      "sort_not_indexed",
      `The objects of this page and before it have more than 16 MiB; ${smaller}, or page by \`_cursor=\``,
    ]);
  });
});

async function fill(served: Served, count: number): Promise<void> {
  const newId = createObjectIds(systemClock);
  const collection = { project: { namespace: served.namespace, name: "shop" }, resource: "many" };
  for (let from = 0; from < count; from += 500) {
    const batch = Array.from({ length: Math.min(500, count - from) }, (_, at) => {
      const n = from + at;
      const { id } = newId();
      const metadata = '{"created":1,"creator":"filler","creator_type":"apikey"}';
      const text = `{"id":"${id}","indexed":${n % 100},"same":1,"plain":${n},"late":${n},"word":"a","_metadata":${metadata}}`;
      return served.store.create(collection, { id, owner: "apikey:filler", text }, 1_000_000);
    });
    await Promise.all(batch);
  }
}

async function untilBuilt(ask: () => Promise<{ status: number; json<T>(): T }>): Promise<{ items: unknown[] }> {
  for (let attempt = 0; attempt < 600; attempt += 1) {
    const reply = await ask();
    if (reply.status === 200) return reply.json();
    await new Promise((resume) => setTimeout(resume, 50));
  }
  throw new Error("The index is still being built");
}
