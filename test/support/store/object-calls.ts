// Random calls of objects on one collection with a few owners and indexes.

import fc from "fast-check";
import { valueAt } from "../../../core/json/members.ts";
import { uniqueIndex } from "../../../dataplane/store/entry-values.ts";
import { encodeSortValue } from "../../../dataplane/store/order.ts";
import type { Store } from "../../../dataplane/store/port.ts";
import type { StoreIndex } from "../../../dataplane/store/ports/indexes.ts";
import type { PageRange } from "../../../dataplane/store/ports/lists.ts";
import type { Visibility } from "../../../dataplane/store/ports/refs.ts";
import { jsonTexts, scalars } from "../json/random-json.ts";
import { pageByCreation } from "./page-by-creation.ts";
import { type Call, call, type Subject } from "./store-call.ts";
import { idOf, servedText } from "./stored-objects.ts";

export const owners = ["user:a", "user:ab", "apikey:a"] as const;

const fields: readonly StoreIndex[] = [
  { name: "a", path: ["a"] },
  { name: "b", path: ["b"] },
  { name: "n.m", path: ["n", "m"] },
  { name: "_metadata.creator", path: ["_metadata", "creator"] },
  {
    name: "a,n.m",
    path: ["a"],
    parts: [
      { name: "a", path: ["a"] },
      { name: "n.m", path: ["n", "m"] },
    ],
  },
  uniqueIndex({ fields: [{ name: "a", path: ["a"] }], per: "Owner" }),
];

interface Members {
  readonly a?: string;
  readonly b?: string;
  readonly m?: string;
}

/** Among those that exist; the last one is none of them. */
const index = fc.nat({ max: 12 });
const owner = fc.constantFrom(...owners);
const visible: fc.Arbitrary<Visibility> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: owner.map((name) => ({ owner: name })) },
);
/** Few different values of `a`, so that filters find several. */
const few = fc.constantFrom("null", "1", "1.0", "2", '"x"', '"xy"', "[]", "{}");
const members = fc.record({ a: fc.oneof(few, scalars), b: jsonTexts, m: scalars }, { requiredKeys: [] });
const range: fc.Arbitrary<PageRange> = fc.record({
  offset: fc.oneof(fc.constant(0), fc.nat({ max: 12 })),
  limit: fc.constantFrom(1, 2, 3, 10, 100),
  descending: fc.boolean(),
});
const fieldName = fc.constantFrom("a", "a", "b", "n.m", "_metadata.creator");

function textOf(id: string, { a, b, m }: Members, by: string): string {
  const entries: (readonly [string, string])[] = [];
  if (a !== undefined) entries.push(["a", a]);
  if (b !== undefined) entries.push(["b", b]);
  if (m !== undefined) entries.push(["n", `{"m":${m}}`]);
  return servedText(id, entries, by);
}

interface Existing {
  readonly id: string;
  readonly text: string;
  readonly owner: string;
}

async function existing({ store, collection }: Subject, at: number): Promise<Existing> {
  const all = { offset: 0, limit: 100, descending: false };
  const { texts } = await pageByCreation(store, collection, {}, all);
  const text = texts[at % (texts.length + 1)] ?? servedText(idOf(999_999), [], "user:a");
  const { id, _metadata: by } = JSON.parse(text) as ServedShape;
  return { id, text, owner: `${by.creator_type}:${by.creator}` };
}

interface ServedShape {
  readonly id: string;
  readonly _metadata: { readonly creator: string; readonly creator_type: string };
}

const creates = call(
  "create",
  fc.tuple(owner, members, fc.constantFrom(6, 1_000, 1_000)),
  (subject, [by, data, maxObjects]) => {
    // Ids that don't arrive in their order, no two alike.
    const id = idOf((subject.made * 7) % 101);
    subject.made += 1;
    const object = { id, owner: by, text: textOf(id, data, by) };
    return subject.store.create(subject.collection, object, maxObjects);
  },
);

const replaces = call(
  "replace",
  fc.tuple(index, members, fc.nat({ max: 7 })),
  async (subject, [at, data, staleness]) => {
    const { id, text, owner: by } = await existing(subject, at);
    const previous = { text: staleness === 0 ? `${text} ` : text };
    return subject.store.replace(subject.collection, { id, owner: by, text: textOf(id, data, by) }, previous);
  },
);

const removes = call("remove", fc.tuple(index, visible), async (subject, [at, who]) =>
  subject.store.remove(subject.collection, (await existing(subject, at)).id, who),
);

const reads: fc.Arbitrary<Call> = fc.oneof(
  call("read", fc.tuple(index, visible), async (subject, [at, who]) =>
    subject.store.read(subject.collection, (await existing(subject, at)).id, who),
  ),
  call("count", visible, ({ store, collection }, who) => store.count(collection, who)),
  call("scan", visible, async ({ store, collection }, who) => {
    const texts: string[] = [];
    for await (const batch of store.scan(collection, who)) texts.push(...batch);
    return texts;
  }),
  call("pageByCreation", fc.tuple(visible, range), ({ store, collection }, [who, part]) =>
    store.pageByCreation(collection, who, part),
  ),
);

const fieldPages: fc.Arbitrary<Call> = fc.oneof(
  call("pageByField", fc.tuple(visible, fieldName, range), ({ store, collection }, [who, index, part]) =>
    store.pageByField(collection, who, { index }, part),
  ),
  call(
    "pageByField equal",
    fc.tuple(visible, fieldName, few, range),
    ({ store, collection }, [who, index, value, part]) =>
      store.pageByField(collection, who, { index, equals: encodeSortValue(value) }, part),
  ),
  call("pageByField missing", fc.tuple(visible, fieldName, range), ({ store, collection }, [who, index, part]) =>
    store.pageByField(collection, who, { index, equals: encodeSortValue(undefined) }, part),
  ),
  call("pageByField of an existing value", fc.tuple(visible, index, range), async (subject, [who, at, part]) => {
    const value = valueAt((await existing(subject, at)).text, ["a"]);
    return subject.store.pageByField(subject.collection, who, { index: "a", equals: encodeSortValue(value) }, part);
  }),
);

const step = fc.constantFrom(-1, 0, 1, 1, 1, 2);
/** Mostly several: a page needs its index. */
const declared = fc.oneof(
  { weight: 3, arbitrary: fc.subarray([...fields], { minLength: 3 }) },
  { weight: 1, arbitrary: fc.subarray([...fields]) },
);
const declares = call("declareIndexes", fc.tuple(declared, step), async (subject, [names, by]) => {
  subject.revision += by;
  return byName(await subject.store.declareIndexes(subject.collection, names, subject.revision));
});

const builds = call("buildIndexes", fc.constant("until done"), async ({ store, collection }) => {
  await untilDone(() => store.buildIndexes(collection));
  return byName(await store.indexes(collection));
});

const states = call("indexes", fc.constant("now"), async ({ store, collection }) =>
  byName(await store.indexes(collection)),
);

const purges = call("purge", fc.integer({ min: 1, max: 4 }), async ({ store, collection }, batch) => {
  const identity = await store.collectionIdentity(collection);
  if (identity !== undefined) await untilDone(() => store.purge(collection, identity, batch));
  return byName(await store.indexes(collection));
});

/** Fails instead of going on for ever. */
export async function untilDone(step: () => Promise<string>): Promise<void> {
  for (let steps = 0; (await step()) !== "done"; steps += 1) {
    if (steps === 1_000) throw new Error("It is never done");
  }
}

function byName(indexes: Awaited<ReturnType<Store["indexes"]>>): readonly unknown[] {
  return [...indexes].sort((x, y) => (x.field.name < y.field.name ? -1 : 1));
}

export const objectCalls: fc.Arbitrary<Call> = fc.oneof(
  { weight: 30, arbitrary: creates },
  { weight: 15, arbitrary: replaces },
  { weight: 8, arbitrary: removes },
  { weight: 12, arbitrary: reads },
  { weight: 24, arbitrary: fieldPages },
  { weight: 6, arbitrary: declares },
  { weight: 14, arbitrary: builds },
  { weight: 2, arbitrary: states },
  { weight: 1, arbitrary: purges },
);
