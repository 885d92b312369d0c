// In which order a sorted list shows objects, and which sorts are refused.

import { beforeAll, describe, expect, it } from "vitest";
import { list, make, outcome, type ServedList } from "../support/http/api-calls.ts";
import { apikey, project, withKey, withResource } from "../support/http/projects.ts";
import { describeReplicas, describeServed, describeServedOnBothStores, type Served } from "../support/http/served.ts";

const key = apikey("writer");

/**
 * JSON texts in the ascending order of docs/queries.md; those of one row tie. `undefined` is a
 * missing field.
 */
const ascending: readonly (readonly (string | undefined)[])[] = [
  [undefined, "null"],
  ["false"],
  ["true"],
  ["-1.7976931348623157e308"],
  ["-9223372036854775808"],
  ["-9223372036854775807"],
  ["-1.5"],
  ["-1", "-1.0"],
  ["-5e-324"],
  ["0", "-0", "0.0", "-0.0", "0e5"],
  ["0.00001"],
  ["1", "1.0", "10e-1"],
  ["1.0000000000000002"],
  ["2"],
  ["10"],
  ["9007199254740992", "9007199254740992.0"],
  ["9007199254740993"],
  ["9007199254740994"],
  ["18446744073709551614"],
  ["18446744073709551615"],
  ["1e300"],
  ['""'],
  ['"\\u0000"'],
  ['"\\u0001"'],
  ['"10"'],
  ['"9"'],
  ['"Z"'],
  ['"a"'],
  ['"a\\u0000"'],
  ['"a b"'],
  ['"aa"'],
  ['"z"'],
  ['"é"'],
  ['"\\uffff"'],
  ['"😀"'],
  ['"😀a"'],
  ["[]", "[1,2]", '["a"]'],
  ["{}", '{"a":1}'],
];

const values = ascending.flatMap((row, rank) => row.map((text) => ({ text, rank })));

const open = { type: "object", properties: { v: true, n: { type: "integer" } } } as const;
const shop = project(
  "shop",
  withKey("writer"),
  withKey("other"),
  withKey("boss", { role: "Administrators" }),
  withResource("indexed", { schema: open, indexes: ["v"] }),
  withResource("scanned", { schema: open }),
  withResource("nested", {
    schema: {
      type: "object",
      properties: {
        "a.b": { type: "integer" },
        a: { type: "object", properties: { b: { type: "integer" }, c: { type: "integer" } } },
        free: { type: "object" },
      },
      additionalProperties: false,
    },
    indexes: ["a.b", { name: "a.c", path: ["a", "c"] }],
  }),
);

describeServedOnBothStores("a list sorted by values of all kinds", (serve) => {
  let served: Served;
  /** Ids by rank, each rank in order of creation. */
  let expected: readonly string[];
  beforeAll(async () => {
    served = await serve(shop);
    const made: { rank: number; id: string }[] = [];
    for (const { text, rank } of shuffled(values)) {
      const body = text === undefined ? "{}" : `{"v":${text}}`;
      await make(served, "indexed", body, apikey("other"));
      made.push({ rank, id: (await make(served, "indexed", body, key)).id });
    }
    // Ids sort by creation and the sort is stable, so ties stand in order of creation.
    expected = made.toSorted((left, right) => left.rank - right.rank).map(({ id }) => id);
  });

  it("shows the caller's own in the order of values, ties in order of creation", async () => {
    expect(idsOf(await list(served, "indexed?_sort=v&_limit=100", key))).toEqual(expected);
  });

  it("is exactly reversed by a leading minus", async () => {
    expect(idsOf(await list(served, "indexed?_sort=-v&_limit=100", key))).toEqual(expected.toReversed());
  });

  it("is the same list in pages", async () => {
    for (const sort of ["v", "-v"]) {
      const ids: string[] = [];
      for (let offset = 0; offset < expected.length; offset += 7) {
        ids.push(...idsOf(await list(served, `indexed?_sort=${sort}&_limit=7&_offset=${offset}`, key)));
      }
      expect(ids).toEqual(sort === "v" ? expected : expected.toReversed());
    }
  });

  it("keeps that order among everybody's objects for an administrator", async () => {
    const { items } = await list(served, "indexed?_sort=v&_limit=100", apikey("boss"));
    const mine = items.filter((item) => item._metadata.creator === "writer").map((item) => item.id);
    expect(items.length).toBe(2 * expected.length);
    expect(mine).toEqual(expected);
    const reversed = await list(served, "indexed?_sort=-v&_limit=100", apikey("boss"));
    expect(idsOf(reversed)).toEqual(items.map((item) => item.id).toReversed());
  });

  it("repeats the sort in links.self", async () => {
    expect((await list(served, "indexed?_sort=-v", key)).links.self).toMatch(/\?_limit=10&_offset=0&_sort=-v$/);
  });
});

describeServedOnBothStores("a list sorted by a field without an index", (serve) => {
  it("shows the same order, by a scan", async () => {
    const served = await serve(shop);
    const made: { rank: number; id: string }[] = [];
    for (const { text, rank } of shuffled(values)) {
      const body = text === undefined ? "{}" : `{"v":${text}}`;
      made.push({ rank, id: (await make(served, "scanned", body, key)).id });
    }
    const expected = made.toSorted((left, right) => left.rank - right.rank).map(({ id }) => id);
    expect(idsOf(await list(served, "scanned?_sort=v&_limit=100", key))).toEqual(expected);
    expect(idsOf(await list(served, "scanned?_sort=-v&_limit=100", key))).toEqual(expected.toReversed());
    const page = await list(served, "scanned?_sort=-v&_limit=5&_offset=10", key);
    expect([page.count, idsOf(page)]).toEqual([values.length, expected.toReversed().slice(10, 15)]);
  });

  it("follows updates of the value, with and without an index", async () => {
    const served = await serve(shop);
    for (const resource of ["indexed", "scanned"]) {
      const [one, two] = [await make(served, resource, { v: 1 }, key), await make(served, resource, { v: 2 }, key)];
      await served.send(`/api/${resource}/${one.id}`, { method: "PUT", body: { v: "text" }, as: key });
      expect(idsOf(await list(served, `${resource}?_sort=v`, key))).toEqual([two.id, one.id]);
      await served.send(`/api/${resource}/${two.id}`, { method: "PUT", body: { v: {} }, as: key });
      expect(idsOf(await list(served, `${resource}?_sort=v`, key))).toEqual([one.id, two.id]);
    }
  });
});

describeServed("strings in a sorted list", (serve) => {
  it("count up to their first 1,024 bytes, and tie in order of creation beyond", async () => {
    const served = await serve(shop);
    const long = "x".repeat(1024);
    for (const resource of ["indexed", "scanned"]) {
      const made: string[] = [];
      for (const v of [`${long}b`, `${long}a`, long, `${"x".repeat(1023)}a`]) {
        made.push((await make(served, resource, { v }, key)).id);
      }
      const [first, second, third, smallest] = made;
      expect(idsOf(await list(served, `${resource}?_sort=v`, key))).toEqual([smallest, first, second, third]);
    }
  });
});

describeServed("what _sort may name", (serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(shop);
    await make(served, "nested", { "a.b": 2, a: { b: 1, c: 3 }, free: { colour: "red" } }, key);
    await make(served, "nested", { "a.b": 1, a: { b: 2, c: 1 }, free: { colour: "blue" } }, key);
    await make(served, "nested", { "a.b": 3, a: { b: 3, c: 2 }, free: { colour: "green" } }, key);
  });
  const order = async (sort: string) => {
    const { items } = await list(served, `nested?_sort=${sort}`, key);
    return items.map((item) => item["a.b"]);
  };

  it("is a path into nested objects", async () => {
    expect(await order("a.c")).toEqual([1, 3, 2]);
    expect(await order("-a.c")).toEqual([2, 3, 1]);
  });

  it("is rather a property literally named with a dot than a path", async () => {
    expect(await order("a.b")).toEqual([1, 2, 3]);
  });

  it("is a path into a declared object whose members are not declared", async () => {
    expect(await order("free.colour")).toEqual([1, 3, 2]);
  });

  it("is id or _metadata.created, both in order of creation", async () => {
    for (const name of ["id", "_metadata.created"]) {
      expect(await order(name)).toEqual([2, 1, 3]);
      expect(await order(`-${name}`)).toEqual([3, 1, 2]);
    }
  });

  it("is a field that only some schema-less objects have", async () => {
    await make(served, "scanned", { w: 2 }, key);
    await make(served, "scanned", { w: 1 }, key);
    await make(served, "scanned", {}, key);
    const { items } = await list(served, "scanned?_sort=-w", key);
    expect(items.map((item) => item.w)).toEqual([2, 1, undefined]);
  });

  it.each([
    ["nothing", "_sort="],
    ["no name at all", "_sort"],
    ["a minus alone", "_sort=-"],
    ["two fields in two parameters", "_sort=a.b&_sort=a.c"],
    ["an undeclared field of a closed schema", "_sort=colour"],
    ["an inherited member", "_sort=constructor"],
    ["an inherited member of the map of properties", "_sort=__proto__"],
    ["two fields with a comma of which one is undeclared", "_sort=a.b,colour"],
    ["a field twice", "_sort=a.b,-a.b"],
    ["nothing behind a comma", "_sort=a.b,"],
    ["five fields", "_sort=a.b,free,a,free.x,free.y"],
    ["an undeclared path of a closed schema", "_sort=colour.deep"],
  ])("is not %s", async (_what, query) => {
    const reply = await served.send(`/api/nested?${query}`, { as: key });
    expect(outcome(reply)).toEqual([400, "invalid_parameter"]);
    expect((await list(served, "nested?_sort=a.b", key)).count).toBe(3);
  });

  it("is listed when it names no field", async () => {
    const reply = await served.send("/api/nested?_sort=colour", { as: key });
    expect(reply.json().detail).toMatch(/a\.b.*a.*free/);
  });

  it("takes odd names for plain ones where the schema is open", async () => {
    const made = await make(served, "indexed", {}, key);
    for (const name of [
      "constructor",
      "__proto__",
      "-v",
      "a..b",
      "%22",
      "%5C",
      "$",
      "*",
      "x".repeat(2000),
      "a.".repeat(500),
    ]) {
      const page = await list(served, `indexed?_sort=${name}`, key);
      expect(page.items).toEqual([made]);
    }
  });
});

describeServedOnBothStores("indexes", (serve) => {
  it("that are added later sort older objects as well", async () => {
    const served = await serve(shop);
    for (const v of [3, 1, 2]) await make(served, "scanned", { v }, key);
    served.change(withResource("scanned", { schema: open, indexes: ["v"] }));
    for (let look = 0; look < 20; look += 1) {
      const { items } = await list(served, "scanned?_sort=v", key);
      expect(items.map((item) => item.v)).toEqual([1, 2, 3]);
    }
    await make(served, "scanned", { v: 0 }, key);
    const { items } = await list(served, "scanned?_sort=v", key);
    expect(items.map((item) => item.v)).toEqual([0, 1, 2, 3]);
  });
});

describeReplicas("sorted pages", (serveTwice) => {
  it("are complete while both replicas create, change and delete what does not belong to the reader", async () => {
    const [one, other] = await serveTwice(shop);
    const mine: string[] = [];
    for (let n = 0; n < 30; n += 1) mine.push((await make(one, "indexed", { v: (n * 7) % 30 }, key)).id);
    let writing = true;
    const write = async (replica: Served, as: string) => {
      for (let n = 0; writing; n += 1) {
        const { id } = await make(replica, "indexed", { v: n % 30 }, as);
        await replica.send(`/api/indexed/${id}`, { method: "PUT", body: { v: (n * 13) % 30 }, as });
        if (n % 2) await replica.send(`/api/indexed/${id}`, { method: "DELETE", as });
      }
    };
    const writers = [write(one, apikey("other")), write(other, apikey("other"))];
    for (const replica of [one, other, one, other]) {
      const seen: unknown[] = [];
      for (let offset = 0; offset < 30; offset += 6) {
        const page = await list(replica, `indexed?_sort=v&_limit=6&_offset=${offset}`, key);
        expect(page.count).toBe(30);
        seen.push(...page.items.map((item) => item.v));
      }
      expect(seen).toEqual(Array.from({ length: 30 }, (_, v) => v));
    }
    writing = false;
    await Promise.all(writers);
    const all = await list(one, "indexed?_sort=v&_limit=100", apikey("boss"));
    const sorted = all.items.map((item) => item.v as number);
    expect(sorted).toEqual(sorted.toSorted((left, right) => left - right));
  });
});

function idsOf(page: ServedList): readonly string[] {
  return page.items.map((item) => item.id);
}

/** Always the same mixture, so that a failure can be had again. */
function shuffled<T>(items: readonly T[]): readonly T[] {
  return items
    .map((item, at) => ({ item, key: (at * 7919 + 104_729) % 1009 }))
    .toSorted((left, right) => left.key - right.key)
    .map(({ item }) => item);
}

describe("the values above", () => {
  it("are all different texts, in an order that shuffling changes", () => {
    expect(new Set(values.map(({ text }) => text)).size).toBe(values.length);
    expect(shuffled(values)).not.toEqual(values);
  });
});
