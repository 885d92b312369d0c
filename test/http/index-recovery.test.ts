// What becomes of a resource's indexes when Redis comes back without its data, and when they change
// while others are built.

import { describe, expect, it } from "vitest";
import { purgeCollection } from "../../dataplane/config/purge-steps.ts";
import { apikey, changed, inNamespace, project, withKey, withResource } from "../support/http/projects.ts";
import { describeReplicas, describeServed, type Served, serveFrom } from "../support/http/served.ts";
import { openRedisStore } from "../support/redis/open-store.ts";
import { sharedRedis } from "../support/redis/shared-redis.ts";
import { eventually } from "../support/time/eventually.ts";

const shop = project(
  "shop",
  withKey("admin", { role: "Administrators" }),
  withResource("books", {
    schema: { type: "object", properties: { title: { type: "string" } } },
    indexes: ["title"],
  }),
);

describeServed("indexes of a resource whose stored data vanished", (serve) => {
  it("are declared and built again by the requests that miss them", async () => {
    const served = await serve(shop);
    const as = apikey("admin");
    const create = (title: string) => served.send("/api/books", { method: "POST", body: { title }, as });
    const collection = { project: { namespace: served.namespace, name: "shop" }, resource: "books" };
    await create("before");
    await purgeCollection(served.store, collection);
    for (const title of ["b", "a", "c"]) expect((await create(title)).status).toBe(201);
    await eventually(async () => {
      const page = (await served.send("/api/books?_sort=title", { as })).json<{ items: { title: string }[] }>();
      expect(page.items.map((item) => item.title)).toEqual(["a", "b", "c"]);
      expect(await served.store.indexes(collection)).toMatchObject([{ field: { name: "title" }, state: "ready" }]);
    });
  });
});

describeReplicas("indexes of a resource that was changed and changed back", (serveTwice) => {
  const as = apikey("admin");
  const byTitle = withResource("books", { indexes: ["title"] });
  const byPages = withResource("books", { indexes: ["pages"] });
  const put = ({ live, namespace }: Served, modifier: typeof byTitle, revision: number) =>
    live.put(changed(shop, inNamespace(namespace), modifier), new Map([["books", revision]]));

  it("are declared again by a replica that saw only what is the same as before", async () => {
    const [one, other] = await serveTwice(shop);
    const indexes = () => one.store.indexes({ project: { namespace: one.namespace, name: "shop" }, resource: "books" });
    put(one, byTitle, 1_000);
    put(other, byTitle, 1_000);
    await one.send("/api/books", { method: "POST", body: { title: "a", pages: 1 }, as });
    put(other, byPages, 2_000);
    expect((await other.send("/api/books?_sort=pages", { as })).status).toBe(200);
    expect(await indexes()).toMatchObject([{ field: { name: "pages" } }]);
    put(one, byTitle, 3_000);
    await eventually(async () => {
      expect((await one.send("/api/books?_sort=title", { as })).status).toBe(200);
      expect(await indexes()).toMatchObject([{ field: { name: "title" }, state: "ready" }]);
    });
  });
});

describe("an index that is declared while the building of another one ends", () => {
  it("is built as well, by the same replica and without a further change", async () => {
    const store = await openRedisStore({ url: sharedRedis().url });
    const ended = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const served = await serveFrom(
      {
        ...store,
        async buildIndexes(collection) {
          const step = await store.buildIndexes(collection);
          if (step === "done") ended.resolve();
          if (step === "done") await released.promise;
          return step;
        },
      },
      [shop],
    );
    const as = apikey("admin");
    await served.send("/api/books", { method: "POST", body: { title: "a", pages: 1 }, as });
    // An index of a collection that is not empty has to be built.
    served.change(withResource("books", { indexes: ["title", "pages"] }));
    expect((await served.send("/api/books", { as })).status).toBe(200);
    await ended.promise;
    served.change(withResource("books", { indexes: ["title", "pages", "year"] }));
    expect((await served.send("/api/books", { as })).status).toBe(200);
    released.resolve();
    const collection = { project: { namespace: served.namespace, name: "shop" }, resource: "books" };
    await eventually(async () => {
      expect(await store.indexes(collection)).toMatchObject(Array(3).fill({ state: "ready" }));
      expect(served.plane.buildingIndexes()).toEqual([]);
    });
    await served.plane.close();
    await store.close();
  });
});
