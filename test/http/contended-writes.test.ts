// What a client reads whose write lost against others for as long as the service tries: 503
// write_conflict, since the store works.

import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../core/clock.ts";
import { WriteConflict } from "../../core/errors/store-errors.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import type { Store } from "../../dataplane/store/port.ts";
import { outcome } from "../support/http/api-calls.ts";
import { apikey, project, withKey, withResource, withRootKey } from "../support/http/projects.ts";
import { type Served, serveFrom } from "../support/http/served.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { sharedRedis } from "../support/redis/shared-redis.ts";

const key = apikey("writer");
const shop = project("shop", withKey("writer"), withResource("books"), withRootKey("doc"));
const lost = [503, "write_conflict"] as const;

describe.each([
  ["Redis", () => openRedisStore({ url: sharedRedis().url })],
  ["the embedded store", () => createEmbeddedStore({ directory: ":memory:", clock: systemClock })],
] as const)("on %s", (_name, open) => {
  let store: Store;
  let served: Served | undefined;
  beforeAll(async () => {
    store = await open();
  });
  afterAll(() => store.close());
  afterEach(() => served?.plane.close());

  it("a value whose document is removed whenever it was begun", async () => {
    const begun = Promise.withResolvers<void>();
    served = await serveFrom(
      {
        ...store,
        async initialise(document, text) {
          const made = await store.initialise(document, text);
          await store.purgeDocument(document, (await store.documentIdentity(document)) ?? "");
          begun.resolve();
          return made;
        },
      },
      [shop],
    );
    const reply = await served.send("/json/doc/a", { method: "PUT", body: 1, as: key });
    await begun.promise;
    expect([...outcome(reply), reply.headers["retry-after"]]).toEqual([...lost, "1"]);
  });

  it("no update of one object through one replica: they take turns, and none is done again", async () => {
    let writes = 0;
    const replace: Store["replace"] = (...args) => {
      writes += 1;
      return store.replace(...args);
    };
    served = await serveFrom({ ...store, replace }, [shop]);
    const { id } = (await served.send("/api/books", { method: "POST", body: { n: 0 }, as: key })).json<{
      id: string;
    }>();
    const body = '[{"op":"increment","path":"/n","by":1}]';
    const sent = {
      method: "PATCH",
      body,
      as: key,
      headers: { "content-type": "application/json-patch+json" },
    } as const;
    const replies = await Promise.all(Array.from({ length: 20 }, () => served?.send(`/api/books/${id}`, sent)));
    expect(new Set(replies.map((reply) => reply?.status))).toEqual(new Set([200]));
    expect(writes).toBe(20);
  });

  it("an object that others keep changing, or whose indexes they keep declaring", async () => {
    const loses = () => Promise.reject(new WriteConflict("The test says so"));
    served = await serveFrom({ ...store, remove: loses, create: loses, declareIndexes: loses }, [shop]);
    const id = "0190a000-0000-7000-8000-000000000000";
    for (const [method, path] of [
      ["DELETE", `/api/books/${id}`],
      ["POST", "/api/books"],
    ] as const) {
      const reply = await served.send(path, { method, as: key, ...(method === "POST" && { body: {} }) });
      expect([method, ...outcome(reply), reply.headers["retry-after"]]).toEqual([method, ...lost, "1"]);
    }
    // Reads go on with the indexes that there are.
    expect((await served.send("/api/books", { as: key })).json()).toMatchObject({ count: 0 });
  });
});
