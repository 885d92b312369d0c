// Asks random lists of random objects, with indexes and without, of both stores: what comes back
// must be what a plain model says, page by page, by offset and by cursor.

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import type { IndexField } from "../../core/config/types.ts";
import { compileSchema } from "../../core/schema/compile-schema.ts";
import { countObjects } from "../../dataplane/objects/list/count-by.ts";
import { createScanSemaphore } from "../../dataplane/objects/list/filter-and-sort.ts";
import { validateList } from "../../dataplane/objects/list/query.ts";
import { planQuery } from "../../dataplane/objects/list/query-plan.ts";
import { listObjects } from "../../dataplane/objects/list/run.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import type { Store } from "../../dataplane/store/port.ts";
import type { CollectionRef } from "../../dataplane/store/ports/refs.ts";
import { project } from "../support/http/projects.ts";
import { scalars } from "../support/json/random-json.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { sharedRedis } from "../support/redis/shared-redis.ts";
import { objectOf } from "../support/store/stored-objects.ts";
import { countForTier } from "../support/time/test-tier.ts";
import { freshCollection } from "./contract/fixture.ts";
import { type Asked, countsOf, matching, type SortedBy, shownCounts } from "./query-model.ts";

const compiled = compileSchema({
  type: "object",
  properties: {
    a: {},
    b: {},
    s: { type: "string" },
    n: { type: "number" },
    o: { type: "object", properties: { p: {} } },
    "o.q": {},
  },
});
if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
const { schema } = compiled;
const config = project("shop").project;
const owners = ["user:alice", "user:bob"] as const;

const paths: Readonly<Record<string, readonly string[]>> = {
  a: ["a"],
  b: ["b"],
  s: ["s"],
  n: ["n"],
  "o.p": ["o", "p"],
  "o.q": ["o.q"],
};
const fieldNamed = (name: string) => ({ name, path: paths[name] ?? [] });
const indexes: readonly IndexField[] = [
  ...["a", "s", "n", "o.p"].map(fieldNamed),
  ...(
    [
      ["a", "b"],
      ["s", "n"],
      ["n", "a"],
      ["b", "o.q"],
    ] as const
  ).map(([first, second]) => ({
    name: `${first},${second}`,
    path: fieldNamed(first).path,
    parts: [fieldNamed(first), fieldNamed(second)] as const,
  })),
];

const long = "é".repeat(512);
/** Few, so that values meet. */
const texts = fc.constantFrom(
  "",
  "a",
  "ab",
  "a,b",
  "\\",
  "1",
  "true",
  "null",
  "é",
  "\uffee",
  "😀",
  "a\u0000",
  "\u0001",
  long,
  `${long}x`,
  `${long}y`,
);
const numbers = fc.constantFrom(
  "0",
  "-0.0",
  "1",
  "1.0",
  "2",
  "-1.5",
  "9007199254740993",
  "9007199254740992",
  "1e300",
  "0.1",
);
const values = fc.oneof(
  { weight: 4, arbitrary: texts.map((text) => JSON.stringify(text)) },
  { weight: 4, arbitrary: numbers },
  fc.constantFrom("null", "true", "false", "{}", '{"a":1}'),
  fc
    .array(
      fc.oneof(
        texts.map((text) => JSON.stringify(text)),
        numbers,
      ),
      { maxLength: 3 },
    )
    .map((all) => `[${all.join(",")}]`),
  scalars,
);

const objects = fc.array(
  fc.record({
    members: fc
      .record(
        {
          a: values,
          b: values,
          s: texts.map((text) => JSON.stringify(text)),
          n: numbers,
          o: fc.oneof(
            values,
            values.map((value) => `{"p":${value},"q":1}`),
          ),
          "o.q": values,
        },
        { requiredKeys: [] },
      )
      .map((members) => members as Record<string, string>),
    owner: fc.constantFrom(...owners),
  }),
  { maxLength: 20 },
);

const anyWord = fc.oneof(
  texts,
  numbers,
  fc.constantFrom("true", "false"),
  scalars.map((text) => (text.startsWith('"') ? (JSON.parse(text) as string) : text)),
);
const escaped = (word: string) => word.replaceAll("\\", "\\\\").replaceAll(",", "\\,");
const listed = (word: fc.Arbitrary<string>) =>
  fc.array(word.map(escaped), { minLength: 1, maxLength: 4 }).map((all) => all.join(","));
const comparisons = fc.constantFrom("eq", "ne", "gt", "ge", "lt", "le");

function askedOf(
  name: string,
  type: Asked["type"],
  word: fc.Arbitrary<string>,
): fc.Arbitrary<readonly [string, Asked]> {
  const field = paths[name] ?? [];
  const make = (operator: string) => (text: string) => [name, { field, operator, text, type }] as const;
  const textual = [texts.map(make("starts")), texts.map(make("contains"))];
  return fc.oneof(
    { weight: 4, arbitrary: fc.tuple(comparisons, word).map(([operator, text]) => make(operator)(text)) },
    listed(word).map(make("in")),
    fc.constantFrom("true", "false").map(make("exists")),
    ...(type === "number" ? [] : textual),
  );
}

const filter = fc.oneof(
  askedOf("a", "any", anyWord),
  askedOf("b", "any", anyWord),
  askedOf("s", "string", texts),
  askedOf("n", "number", numbers),
  askedOf("o.p", "any", anyWord),
  askedOf("o.q", "any", anyWord),
);
const filters = fc.uniqueArray(filter, {
  maxLength: 3,
  selector: ([name, { operator }]) => `${name}:${operator}`,
});
/** Filters on the same field and filters on others, indexed and not. */
const any = fc.option(fc.array(filter, { minLength: 1, maxLength: 4 }), { nil: undefined, freq: 2 });

const sorts = fc.uniqueArray(fc.tuple(fc.constantFrom(...Object.keys(paths), "id"), fc.boolean()), {
  maxLength: 3,
  selector: ([name]) => name,
});

const anyQuery = fc.record({
  filters,
  any,
  sorts,
  limit: fc.integer({ min: 1, max: 6 }),
  offset: fc.integer({ min: 0, max: 8 }),
  counted: fc.boolean(),
  owner: fc.constantFrom(undefined, ...owners),
});
type Query = typeof anyQuery extends fc.Arbitrary<infer T> ? T : never;

/**
 * Half of those with filters are sorted by what they filter by, or by what stands next to it, as
 * indexes are.
 */
const queries = fc
  .tuple(anyQuery, fc.boolean(), fc.boolean(), fc.constantFrom("first", "second", "both"))
  .map(([query, isAlike, descending, by]): Query => {
    const [first, other] = query.filters;
    if (!isAlike || first === undefined) return query;
    const second = indexes.find(({ parts }) => parts?.[0].name === first[0])?.parts?.[1].name;
    if (second === undefined || by === "first") return { ...query, filters: [first], sorts: [[first[0], descending]] };
    const filters = other?.[0] === second ? [first, other] : [first];
    const names = by === "second" ? [second] : [first[0], second];
    return { ...query, filters, sorts: names.map((name) => [name, descending]) };
  });

function queryText({ sorts: keys, limit, counted, ...query }: Query): string {
  const all = [`_limit=${limit}`];
  if (keys.length > 0) {
    const sort = keys.map(([name, descending]) => (descending ? `-${name}` : name)).join(",");
    all.push(`_sort=${encodeURIComponent(sort)}`);
  }
  if (!counted) all.push("_count=false");
  return [...all, filterText(query)].filter(Boolean).join("&");
}

function filterText({ filters: asked, any: alternatives }: Pick<Query, "filters" | "any">): string {
  const all: string[] = [];
  for (const [name, { operator, text }] of asked) {
    all.push(`${encodeURIComponent(operator === "eq" ? name : `${name}:${operator}`)}=${encodeURIComponent(text)}`);
  }
  const parts = alternatives?.map(([name, { operator, text }]) => {
    if (operator === "eq") return `${name}${text.includes("=") ? "=" : ":"}${text}`;
    return `${name}:${operator}=${text}`;
  });
  if (parts !== undefined) all.push(`_any=${encodeURIComponent(parts.map(escaped).join(","))}`);
  return all.join("&");
}

interface Shown {
  readonly count?: number;
  readonly items: readonly unknown[];
  readonly links: { readonly self: string; readonly next?: string };
}

describe.each(["embedded", "redis"] as const)("every list of the %s store", (kind) => {
  let store: Store;
  beforeAll(async () => {
    store =
      kind === "redis"
        ? await openRedisStore({ url: sharedRedis().url })
        : await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
  });
  afterAll(() => store.close());

  it("is what a plain model says", { timeout: 300_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(objects, fc.array(queries, { minLength: 1, maxLength: 8 }), async (given, asked) => {
        const indexed = await filled(given, indexes);
        const plain = await filled(given, []);
        const all = given.map(({ members, owner }, n) => objectOf(n, members, owner));
        for (const query of asked) {
          const visible = all.filter(({ owner }) => query.owner === undefined || owner === query.owner);
          const expected = matching(
            visible.map(({ text }) => text),
            { asked: query.filters.map(([, each]) => each), any: query.any?.map(([, each]) => each) },
            query.sorts.map(([name, descending]): SortedBy => ({ field: paths[name] ?? [name], descending })),
          );
          await expectShown(indexed, query, expected, indexes);
          await expectShown(plain, query, expected, []);
        }
      }),
      { numRuns: countForTier(50) },
    );
  });

  async function filled(
    given: readonly { readonly members: Record<string, string>; readonly owner: string }[],
    fields: readonly IndexField[],
  ): Promise<CollectionRef> {
    const collection = freshCollection();
    await store.declareIndexes(collection, fields, 1);
    for (const [n, { members, owner }] of given.entries()) {
      await store.create(collection, objectOf(n, members, owner), 1_000);
    }
    return collection;
  }

  async function expectShown(
    collection: CollectionRef,
    query: Query,
    expected: readonly string[],
    fields: readonly IndexField[],
  ): Promise<void> {
    const ask = async (text: string): Promise<string> => {
      const plan = planQuery(validateList(text, schema, config), fields, { schema, maxBytes: 0 });
      const request = {
        store,
        collection,
        indexes: fields,
        visible: query.owner === undefined ? {} : { owner: query.owner },
        preconditions: undefined,
        plan,
        url: "",
        onIndexMissing: () => undefined,
        scanSemaphore: createScanSemaphore(),
        onScan: () => undefined,
      };
      const { countBy } = plan.query;
      const answer = await (countBy === undefined ? listObjects(request) : countObjects(request, countBy));
      return answer.text ?? "";
    };
    const get = async (text: string): Promise<Shown> => JSON.parse(await ask(text)) as Shown;
    const text = queryText(query);
    const { limit, offset } = query;
    const page = await get(`${text}&_offset=${offset}`);
    expect({ text, ids: idsOf(page.items) }).toEqual({
      text,
      ids: idsOf(parsed(expected.slice(offset, offset + limit))),
    });
    expect(page.count).toBe(query.counted ? expected.length : undefined);
    expect(page.links.next !== undefined).toBe(offset + limit < expected.length);

    const walked: unknown[] = [];
    for (let next: string | undefined = `${text}&_cursor=`; next !== undefined; ) {
      const step: Shown = await get(next);
      walked.push(...step.items);
      expect(step.count).toBe(query.counted ? expected.length : undefined);
      expect(step.items.length).toBe(Math.min(limit, expected.length - (walked.length - step.items.length)));
      next = step.links.next?.slice(1);
    }
    expect({ text, ids: idsOf(walked) }).toEqual({ text, ids: idsOf(parsed(expected)) });

    const [name = "a"] = query.sorts.map(([each]) => each).filter((each) => each !== "id");
    const counting = `${filterText(query)}&_count_by=${name}`;
    const counted = await ask(counting);
    expect({ counting, counts: shownCounts(counted) }).toEqual({
      counting,
      counts: countsOf(expected, paths[name] ?? []),
    });
    expect(JSON.parse(counted)).toMatchObject({ count: expected.length, items: [] });
  }
});

function parsed(all: readonly string[]): readonly unknown[] {
  return all.map((text) => JSON.parse(text));
}

function idsOf(items: readonly unknown[]): readonly string[] {
  return items.map((item) => (item as { readonly id: string }).id);
}
