// What goes on while Redis answers reads and refuses writes: no memory is left, it is a replica, it can't save, it lacks replicas.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type Clock, systemClock } from "../../core/clock.ts";
import { createRedisStore } from "../../dataplane/store/redis/redis-store.ts";
import { login, make, outcome } from "../support/http/api-calls.ts";
import {
  apikey,
  bearer,
  project,
  withKey,
  withLimits,
  withResource,
  withRootKey,
  withUser,
} from "../support/http/projects.ts";
import { type Served, type ServeOptions, serveFrom } from "../support/http/served.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { type Refusing, refusedWriteStates } from "../support/redis/refused-writes.ts";
import { eventually } from "../support/time/eventually.ts";

const whole = { scope: { read: "All", write: "All" } } as const;
const key = apikey("ci");
/** Rates so slow that nothing is added while a test runs. */
const shop = project(
  "shop",
  withKey("ci", { role: "Administrators" }),
  withKey("app"),
  withUser("alice"),
  withUser("bob", { role: "Administrators" }),
  withResource("books", whole),
  withRootKey("doc", { initialValue: '{"a":1}' }),
  withLimits({ rate: { caller: { requestsPerSecond: 0.01, burst: 12 } } }),
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

/** Declares resources at one moment on every replica: as published configuration, which is the same for all. */
const startedAt = Date.now();
const clock: Clock = { now: () => startedAt, monotonic: systemClock.monotonic };

async function replica(options: ServeOptions = {}): Promise<Served> {
  const store = await createRedisStore({ url: redis.url, clock, commandTimeoutMs: 20_000 });
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
        expect(outcome(refused)).toEqual([503, "store_unavailable"]);
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
