// What goes on while Redis answers reads and refuses writes: no memory is left, it is a replica, it
// can't save, it has no replicas.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Clock, systemClock } from "../../core/clock.ts";
import { list, login, make, outcome, type ServedObject } from "../support/http/api-calls.ts";
import {
  apikey,
  basic,
  bearer,
  project,
  withKey,
  withLimits,
  withResource,
  withRootKey,
  withUser,
} from "../support/http/projects.ts";
import { type Served, type ServeOptions, serveFrom } from "../support/http/served.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { type Refusing, refusedWriteStates, refusedWrites } from "../support/redis/refused-writes.ts";
import { eventually } from "../support/time/eventually.ts";

const anyone = { create: "Anyone", read: "Anyone", update: "Anyone", delete: "Anyone" } as const;
const whole = { scope: { read: "All", write: "All" } } as const;
const numbered = { type: "object", properties: { n: { type: "integer" } } } as const;
const key = apikey("ci");
const inner = { type: "object", properties: { b: { type: "integer" } } } as const;
const nested = { type: "object", properties: { a: inner } } as const;
const literally = { type: "object", properties: { a: inner, "a.b": { type: "integer" } } } as const;
/** Rates so slow that nothing is added while a test runs. */
const shop = project(
  "shop",
  withKey("ci", { role: "Administrators" }),
  withKey("app"),
  withUser("alice"),
  withUser("bob", { role: "Administrators" }),
  withResource("books", whole),
  withResource("notes", { access: anyone }),
  withRootKey("board", { access: anyone }),
  withRootKey("doc", { initialValue: '{"a":1}' }),
  withLimits({ anonymousWritesPerMinute: 4, rate: { caller: { requestsPerSecond: 0.01, burst: 12 } } }),
);

let redis: TestRedis;
beforeAll(async () => {
  redis = await startRedis();
});
afterAll(() => redis.stop());

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/**
 * Declares resources at one moment on every replica: as published configuration, which is the same
 * for all.
 */
const startedAt = Date.now();
const clock: Clock = { now: () => startedAt, monotonic: systemClock.monotonic };

async function replica(options: ServeOptions = {}): Promise<Served> {
  const store = await openRedisStore({ url: redis.url, clock });
  const served = await serveFrom(store, [shop], { ...options, clock });
  closing.push(async () => {
    await served.plane.close();
    await store.close();
  });
  return served;
}

async function refusing<T>(state: Refusing, run: () => Promise<T>): Promise<T> {
  await state.enter(redis);
  try {
    return await run();
  } finally {
    await state.leave(redis);
  }
}

const end = (at: Served, id: string, as: string) => at.send(`/sessions/${id}`, { method: "DELETE", as });
const isLetIn = async (at: Served, token: string) => (await at.send("/api/books", { as: bearer(token) })).status;
const refresh = (at: Served, token: string) => at.send("/sessions/refresh", { method: "POST", as: bearer(token) });

describe("while Redis is full", () => {
  const { OOM } = refusedWrites;

  it("sessions are refreshed and ended, on every replica, by their user and by an administrator", async () => {
    const served = await replica();
    const other = await replica({ namespace: served.namespace });
    const [own, another] = [await login(served, "alice"), await login(served, "alice")];
    await refusing(OOM, async () => {
      expect((await refresh(other, own.refresh_token)).status).toBe(200);
      expect((await end(served, own.session_id, bearer(own.access_token))).status).toBe(204);
      expect((await end(served, another.session_id, key)).status).toBe(204);
      for (const { access_token, refresh_token } of [own, another]) {
        expect(await isLetIn(served, access_token)).toBe(401);
        await eventually(async () => expect(await isLetIn(other, access_token)).toBe(401));
        expect((await refresh(other, refresh_token)).status).toBe(401);
      }
      const opened = await served.send("/sessions/", { method: "POST", as: basic("bob") });
      expect(outcome(opened)).toEqual([507, "store_full"]);
    });
  });

  it("objects and parts of values are removed", async () => {
    const served = await replica();
    const [one, two] = [await make(served, "books", { n: 1 }, key), await make(served, "books", { n: 2 }, key)];
    await served.send("/json/doc", { method: "PUT", body: { a: 1, l: [1, 2, 3], o: { 'odd"key': 1 } }, as: key });
    await refusing(OOM, async () => {
      const remove = async (path: string, headers: Record<string, string> = {}) =>
        (await served.send(path, { method: "DELETE", as: key, headers })).status;
      expect([await remove(`/api/books/${one.id}`), await remove(`/api/books/${two.id}`, { "if-match": "*" })]).toEqual(
        [204, 204],
      );
      const parts = ["a", "l/1", "o/odd%22key"];
      const found: number[] = [];
      for (const part of parts) found.push(await remove(`/json/doc/${part}`));
      expect(found).toEqual([200, 200, 200]);
      expect((await served.send("/json/doc")).json()).toEqual({ l: [1, 3], o: {} });
      expect((await served.send("/api/books", { as: key })).json()).toMatchObject({ count: 0 });
    });
  });

  it("an address without a credential removes what it may, as often as it may write", async () => {
    const served = await replica();
    const { id } = await make(served, "notes", {});
    await served.send("/json/board/a", { method: "PUT", body: 1 });
    await refusing(OOM, async () => {
      const write = async (method: string, path: string) =>
        outcome(await served.send(path, { method, ...(method === "POST" && { body: {} }) }));
      expect(await write("DELETE", `/api/notes/${id}`)).toEqual([204, undefined]);
      expect(await write("DELETE", "/json/board/a")).toEqual([200, undefined]);
      expect(await write("POST", "/api/notes")).toEqual([507, "store_full"]);
      const again: (string | undefined)[] = [];
      for (let n = 0; n < 4; n += 1) again.push((await write("DELETE", `/api/notes/${id}`))[1]);
      expect([again[0], again.at(-1)]).toEqual(["not_found", "write_throttled"]);
      expect((await served.send("/api/notes")).json()).toMatchObject({ count: 0 });
    });
  });
});

for (const [code, state] of refusedWriteStates.filter(([name]) => name !== "OOM")) {
  describe(`a session that is ended while Redis refuses even that (${code})`, () => {
    it("is refused by the replica that was asked, which says so, and by all as soon as Redis takes writes", async () => {
      const served = await replica();
      const other = await replica({ namespace: served.namespace });
      // Whoever reads a resource first declares its indexes, which is a write.
      await make(served, "books", {}, key);
      const [own, another] = [await login(served, "alice"), await login(served, "bob")];
      await refusing(state, async () => {
        const reply = await end(served, own.session_id, bearer(own.access_token));
        expect(outcome(reply)).toEqual([503, "store_unavailable"]);
        expect(reply.json<{ detail: string }>().detail).toContain("refuses the session's tokens from now on");
        for (let n = 0; n < 2; n += 1) {
          expect(outcome(await end(served, another.session_id, key))).toEqual([503, "store_unavailable"]);
        }
        for (const { access_token, refresh_token } of [own, another]) {
          expect(await isLetIn(served, access_token)).toBe(401);
          expect((await refresh(served, refresh_token)).status).toBe(401);
          expect(await isLetIn(other, access_token)).toBe(200);
        }
      });
      for (const { access_token, refresh_token } of [own, another]) {
        await eventually(async () => expect(await isLetIn(other, access_token)).toBe(401));
        expect((await refresh(other, refresh_token)).status).toBe(401);
      }
      expect((await end(served, another.session_id, key)).status).toBe(404);
    });
  });
}

for (const [code, state] of refusedWriteStates) {
  describe(`while Redis refuses writes (${code})`, () => {
    it("a project with rates is read, by who was known and who was not, on every replica", async () => {
      const served = await replica();
      const { id } = await make(served, "books", { n: 1 }, key);
      await served.send("/json/doc/b", { method: "PUT", body: 2, as: key });
      const token = bearer((await login(served, "alice")).access_token);
      await refusing(state, async () => {
        const fresh = await replica({ namespace: served.namespace });
        for (const at of [served, fresh]) {
          for (const as of [key, apikey("app"), token]) {
            expect((await at.send(`/api/books/${id}`, { as })).status).toBe(200);
          }
          expect((await at.send("/api/books", { as: key })).json()).toMatchObject({ count: 1 });
          expect((await at.send("/json/doc")).text).toBe('{"a":1,"b":2}');
        }
        const refused = await served.send("/api/books", { method: "POST", body: {}, as: key });
        expect(outcome(refused)).toEqual(code === "OOM" ? [507, "store_full"] : [503, "store_unavailable"]);
      });
    });

    const isSurelyPrimary = code !== "READONLY" && code !== "NOREPLICAS";
    it(`${isSurelyPrimary ? "a" : "no"} session is refreshed, on every replica, and one that has ended is not`, async () => {
      const served = await replica();
      const other = await replica({ namespace: served.namespace });
      await make(served, "books", {}, key);
      const [own, another] = [await login(served, "alice"), await login(served, "alice")];
      expect((await end(served, another.session_id, key)).status).toBe(204);
      await refusing(state, async () => {
        for (const at of [served, other]) {
          const reply = await refresh(at, own.refresh_token);
          if (isSurelyPrimary) {
            expect(await isLetIn(other, reply.json<{ access_token: string }>().access_token)).toBe(200);
          } else expect(outcome(reply)).toEqual([503, "store_unavailable"]);
          expect((await refresh(at, another.refresh_token)).status).toBe(401);
        }
      });
    });

    it("a resource whose configuration was changed just before is read, sorted by its new field", async () => {
      const served = await replica();
      for (const n of [2, 1]) await make(served, "books", { n }, key);
      await refusing(state, async () => {
        served.change(withResource("books", { ...whole, schema: numbered, indexes: ["n"] }));
        const { items } = (await served.send("/api/books?_sort=n", { as: key })).json<{ items: ServedObject[] }>();
        expect(items.map(({ n }) => n)).toEqual([1, 2]);
        expect((await served.send(`/api/books/${items[0]?.id}`, { as: key })).status).toBe(200);
      });
      await make(served, "books", { n: 0 }, key);
      expect((await served.send("/api/books?_sort=n&_limit=1", { as: key })).json()).toMatchObject({
        items: [{ n: 0 }],
      });
    });

    it("a list is not sorted by what an index's name meant before", async () => {
      const served = await replica();
      served.change(withResource("books", { ...whole, schema: nested, indexes: [{ name: "a.b", path: ["a", "b"] }] }));
      for (const [b, literal] of [
        [1, 2],
        [2, 1],
      ]) {
        await make(served, "books", { a: { b }, "a.b": literal }, key);
      }
      const bs = async (query: string) =>
        (await list(served, `books?${query}`, key)).items.map(({ a }) => (a as { readonly b: number }).b);
      expect(await bs("_sort=a.b")).toEqual([1, 2]);
      await refusing(state, async () => {
        // A declared property of that very name comes before a path.
        served.change(
          withResource("books", { ...whole, schema: literally, indexes: [{ name: "a.b", path: ["a.b"] }] }),
        );
        expect(await bs("_sort=a.b")).toEqual([2, 1]);
        expect(await bs("a.b=1")).toEqual([2]);
        expect(await bs("a.b:ge=2")).toEqual([1]);
        expect(await bs("_sort=a.b&_cursor=")).toEqual([2, 1]);
      });
    });

    it("each replica goes by the rates alone, and by what all share afterwards", async () => {
      const served = await replica();
      const statuses = async (at: Served, times: number): Promise<readonly number[]> => {
        const found: number[] = [];
        for (let n = 0; n < times; n += 1) found.push((await at.send("/json/doc/a", { as: key })).status);
        return found;
      };
      expect(await statuses(served, 2)).toEqual([200, 200]);
      await refusing(state, async () => {
        const other = await replica({ namespace: served.namespace });
        for (const at of [served, other]) {
          const found = await statuses(at, 15);
          expect(found.filter((status) => status === 200).length).toBeLessThanOrEqual(12);
          expect(found.slice(0, 10)).toEqual(Array(10).fill(200));
          expect(found.at(-1)).toBe(429);
        }
      });
      // Two were taken from the bucket in Redis.
      const third = await replica({ namespace: served.namespace });
      await eventually(async () =>
        expect((await third.send("/json/doc/a", { as: key })).headers.ratelimit).toContain("r=9"),
      );
    });
  });
}
