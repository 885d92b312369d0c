// A page is found by a script, and its objects are read behind it: what that costs, and what it
// shows of what was written in between.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { encodeSortValue } from "../../dataplane/store/order.ts";
import type { Store } from "../../dataplane/store/port.ts";
import type { Page } from "../../dataplane/store/ports/lists.ts";
import type { CollectionRef } from "../../dataplane/store/ports/refs.ts";
import { equalTo, greaterThan } from "../../dataplane/store/ranges.ts";
import { collectionKeys } from "../../dataplane/store/redis/keys.ts";
import { startTcpProxy, type TcpProxy } from "../support/process/tcp-proxy.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { commandsSent } from "../support/redis/command-counts.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { pageByCreation } from "../support/store/page-by-creation.ts";
import { fillCollection, idOf, idsIn, objectOf } from "../support/store/stored-objects.ts";

const books: CollectionRef = { project: { namespace: "default", name: "shop" }, resource: "books" };
const range = { offset: 0, limit: 100, descending: false };
const walk = { ...range, counted: true };
const plenty = 1_000;
const total = 10;
const kibibytes = (count: number): string => JSON.stringify("x".repeat(count * 1024));
const bookOf = (n: number, s = n) => objectOf(n, { s: String(s) });
const own = { owner: "user:alice" };
const fromFive = { index: "s", ranges: [greaterThan(encodeSortValue("5"), true)] };
const seven = encodeSortValue("7");

let redis: TestRedis;
let proxy: TcpProxy;
/** Asks through the proxy. */
let store: Store;
let direct: Store;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());
beforeEach(async () => {
  await askRedis(redis.port, "FLUSHALL");
  proxy = await startTcpProxy(redis.port);
  direct = await openRedisStore({ url: redis.url });
  await direct.declareIndexes(books, [{ name: "s", path: ["s"] }], 1);
  await fillCollection(direct, books, total, (n) => bookOf(n));
  store = await openRedisStore({ url: `redis://127.0.0.1:${proxy.port}` });
});
afterEach(async () => {
  await Promise.all([store.close(), direct.close()]);
  await proxy.stop();
});

const byCreation = async () => (await pageByCreation(store, books, {}, range)).texts;
const bySort = async () => textsIn(await store.pageByField(books, {}, { index: "s" }, range));
function textsIn(page: Page | { readonly outcome: "not_ready" }): readonly string[] {
  if (!("texts" in page)) throw new Error("The index is not ready");
  return page.texts;
}

describe("a page", () => {
  it("takes a script for its ids and one command for its objects, or two scripts before they are known to be small", async () => {
    const find = { evalsha: 1, zcard: 1, zrange: 1 };
    await byCreation();
    expect(await commandsSent(redis.port, byCreation)).toEqual({ ...find, "json.mget": 1 });
    await direct.create(books, objectOf(total, { s: kibibytes(20) }), plenty);
    expect(await commandsSent(redis.port, byCreation)).toEqual({ ...find, evalsha: 2, "json.get": total + 1 });
    expect(await commandsSent(redis.port, byCreation)).toEqual({ ...find, evalsha: 2, "json.get": total + 1 });
  });

  it("in order of values of all kinds is read once, both ways", async () => {
    const sorted = [
      "null",
      "true",
      "-1e3",
      "-20",
      "-3",
      "0",
      "1.5",
      "9",
      "10",
      "1e2",
      "9007199254740993",
      '"9"',
      '"b"',
    ];
    for (const [n, s] of sorted.entries()) await direct.create(books, objectOf(100 + n, { s }), plenty);
    const ids = [100, 101, 102, 103, 104, 0, 105, 1, 106, 2, 3, 4, 5, 6, 7, 8, 9, 107, 108, 109, 110, 111, 112].map(
      idOf,
    );
    for (const descending of [false, true]) {
      const read = () => store.pageByField(books, {}, { index: "s" }, { ...range, descending });
      expect(idsIn(textsIn(await read()))).toEqual(descending ? ids.toReversed() : ids);
      expect(await commandsSent(redis.port, read)).toMatchObject({ evalsha: 1, "json.mget": 1 });
    }
  });

  it("shares the objects with what else is read in the same turn", async () => {
    await byCreation();
    const sent = await commandsSent(redis.port, () => Promise.all([byCreation(), byCreation(), byCreation()]));
    expect(sent).toMatchObject({ evalsha: 3, "json.mget": 1 });
  });

  it("of hundreds of small objects is whole, in order, both ways", async () => {
    await Promise.all(Array.from({ length: 300 }, (_, n) => direct.create(books, bookOf(n + total), plenty)));
    const many = { ...range, limit: 500 };
    for (let times = 0; times < 2; times += 1) {
      const { count, texts } = await pageByCreation(store, books, {}, { ...many, descending: true });
      expect([count, idsIn(texts)]).toEqual([310, Array.from({ length: 310 }, (_, n) => idOf(309 - n))]);
    }
  });
});

/**
 * What is shown when `change` is carried out after the ids were found, and before the objects are
 * read.
 */
async function shownAfter(
  read: () => Promise<readonly string[]>,
  { known, change }: { readonly known: boolean; readonly change: () => Promise<unknown> },
): Promise<readonly string[]> {
  if (known) await byCreation();
  // A script is sent whole the first time over a connection.
  const held = proxy.holdFrom(known ? /JSON\.MGET/ : /Purpose: reads objects until/);
  const page = read();
  await held;
  await change();
  proxy.release();
  return page;
}

it("a long page that is read again asks for its permit once", async () => {
  const long = (n: number, s: number) => objectOf(n + 100, { s: JSON.stringify(`long ${s}`), body: kibibytes(150) });
  for (const n of [1, 2, 3, 4, 5, 6, 7, 8, 9]) await direct.create(books, long(n, n), plenty);
  let permits = 0;
  const beforeMore = async () => {
    permits += 1;
  };
  const read = async () => textsIn(await store.pageByField(books, {}, { index: "s" }, { ...range, beforeMore }));
  const change = () => direct.replace(books, long(2, 9.5), long(2, 2));
  expect(idsIn(await shownAfter(read, { known: false, change })).slice(-3)).toEqual([108, 109, 102].map(idOf));
  expect(permits).toBe(1);
});

it("a page whose objects move each time that it is read is in order by the values that were read last", async () => {
  await byCreation();
  let held = proxy.holdFrom(/JSON\.MGET/);
  const page = bySort();
  for (const [from, to] of [
    [3, 95],
    [95, 3],
    [3, 95],
  ] as const) {
    // A page that is not read again ends before.
    await Promise.race([held, page]);
    await direct.replace(books, bookOf(3, to), bookOf(3, from));
    proxy.release();
    // Not the request that was just released: it passes the proxy once more.
    const found = proxy.holdFrom(/evalsha/i);
    await Promise.race([found, page]);
    proxy.release();
    held = proxy.holdFrom(/JSON\.MGET/);
  }
  expect(idsIn(await page)).toEqual([0, 1, 2, 4, 5, 6, 7, 8, 9, 3].map(idOf));
});

describe.each([
  ["known to be small", true],
  ["not known yet", false],
])("between the ids and the objects of a page, which are %s,", (_, known) => {
  it("an object that is removed is left out", async () => {
    const change = () => direct.remove(books, idOf(3), {});
    expect(idsIn(await shownAfter(byCreation, { known, change }))).toEqual([0, 1, 2, 4, 5, 6, 7, 8, 9].map(idOf));
  });

  it("an object that changes is shown as it is then, at the place that it has then", async () => {
    const change = () => direct.replace(books, bookOf(3, 95), bookOf(3));
    const texts = await shownAfter(bySort, { known, change });
    expect(texts).toEqual([0, 1, 2, 4, 5, 6, 7, 8, 9, 3].map((n) => bookOf(n, n === 3 ? 95 : n).text));
  });

  it("an object that moves beyond the end of the page makes room for the next one", async () => {
    const firstFive = async () =>
      textsIn(await store.pageByField(books, {}, { index: "s" }, { ...range, limit: 5, descending: true }));
    const change = () => direct.replace(books, bookOf(7, 0), bookOf(7));
    expect(idsIn(await shownAfter(firstFive, { known, change }))).toEqual([9, 8, 6, 5, 4].map(idOf));
  });

  const filters: Readonly<Record<string, () => Promise<readonly string[]>>> = {
    "by a value": async () => textsIn(await store.pageByField(books, {}, { index: "s", equals: seven }, range)),
    "by ranges": async () =>
      textsIn(await store.pageByField(books, {}, { index: "s", ranges: [equalTo(seven)] }, range)),
    "by ranges, in a walk": async () =>
      textsIn(await store.pageAfter(books, {}, { index: "s", ranges: [equalTo(seven)] }, walk)),
  };
  for (const [what, read] of Object.entries(filters)) {
    it(`an object that the filter no longer matches is left out: ${what}`, async () => {
      await direct.create(books, bookOf(total, 7), plenty);
      // The last one: what is left is in order, and the page is not read again.
      const change = () => direct.replace(books, bookOf(total, 8), bookOf(total, 7));
      expect(await shownAfter(read, { known, change })).toEqual([bookOf(7).text]);
    });
  }

  const lists: Readonly<Record<string, () => Promise<readonly string[]>>> = {
    "in order of creation": async () => (await pageByCreation(store, books, own, range)).texts,
    "in order of a field": async () => textsIn(await store.pageByField(books, own, { index: "s" }, range)),
    "by a filter": async () => textsIn(await store.pageByField(books, own, fromFive, range)),
    "in a walk": async () => textsIn(await store.pageAfter(books, own, undefined, walk)),
  };
  for (const [what, read] of Object.entries(lists)) {
    it(`what is there in the place of one's own object is left out where it is another's: ${what}`, async () => {
      const key = collectionKeys(books).objectKey(idOf(6));
      const foreign = objectOf(6, { s: "6" }, "user:bob").text;
      const change = async () => expect(await askRedis(redis.port, `JSON.SET ${key} $ '${foreign}'`)).toBe("+OK\r\n");
      const ids = idsIn(await shownAfter(read, { known, change }));
      expect(ids).not.toContain(idOf(6));
      expect(ids).toEqual(expect.arrayContaining([5, 7, 8, 9].map(idOf)));
    });
  }
});
