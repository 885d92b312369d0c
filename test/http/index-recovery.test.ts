// What becomes of a resource's indexes when Redis comes back without its data.

import { expect, it } from "vitest";
import { apikey, project, withKey, withResource } from "../support/http/projects.ts";
import { describeServed } from "../support/http/served.ts";
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
    while ((await served.store.purge(collection, 100)) === "more");
    for (const title of ["b", "a", "c"]) expect((await create(title)).status).toBe(201);
    await eventually(async () => {
      const page = (await served.send("/api/books?_sort=title", { as })).json<{ items: { title: string }[] }>();
      expect(page.items.map((item) => item.title)).toEqual(["a", "b", "c"]);
      expect(await served.store.indexes(collection)).toMatchObject([{ field: { name: "title" }, state: "ready" }]);
    });
  });
});
