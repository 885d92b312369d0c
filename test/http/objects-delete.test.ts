// What deleting an object leaves: nothing.

import { beforeAll, expect, it } from "vitest";
import { list, make, outcome } from "../support/http/api-calls.ts";
import { apikey, project, withKey, withResource } from "../support/http/projects.ts";
import { describeReplicas, describeServedOnBothStores, type Served } from "../support/http/served.ts";

const key = apikey("writer");
const shop = project(
  "shop",
  withKey("writer"),
  withResource("books", {
    schema: { type: "object", properties: { title: { type: "string" } } },
    indexes: ["title"],
  }),
);

describeServedOnBothStores("deleting an object", (serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(shop);
  });
  const remove = (id: string) => served.send(`/api/books/${id}`, { method: "DELETE", as: key });

  it("answers 204 without a body", async () => {
    const { id } = await make(served, "books", { title: "Dune" }, key);
    const reply = await remove(id);
    expect([reply.status, reply.text]).toEqual([204, ""]);
    expect(reply.headers["content-type"]).toBeUndefined();
  });

  it("removes it for good: from reads, lists, sorted lists, filtered lists and count", async () => {
    const kept = await make(served, "books", { title: "kept" }, key);
    const { id } = await make(served, "books", { title: "gone" }, key);
    const { count } = await list(served, "books", key);
    await remove(id);
    expect(outcome(await served.send(`/api/books/${id}`, { as: key }))).toEqual([404, "not_found"]);
    for (const query of ["", "&_sort=title", "&_sort=-title", "&_sort=id"]) {
      const page = await list(served, `books?_limit=100${query}`, key);
      expect(page.count).toBe(count - 1);
      expect(page.items.map((item) => item.id)).toContain(kept.id);
      expect(page.items.map((item) => item.id)).not.toContain(id);
    }
    expect(await list(served, "books?title=gone", key)).toMatchObject({ count: 0, items: [] });
  });

  it("answers 404 the second time, and to an update afterwards", async () => {
    const { id } = await make(served, "books", { title: "Dune" }, key);
    await remove(id);
    expect(outcome(await remove(id))).toEqual([404, "not_found"]);
    const update = await served.send(`/api/books/${id}`, { method: "PUT", body: { title: "back" }, as: key });
    expect(outcome(update)).toEqual([404, "not_found"]);
  });

  it("takes a JSON content type without a body, and pays no attention to a body", async () => {
    const made = await Promise.all([1, 2].map(() => make(served, "books", {}, key)));
    const [bare, full] = await Promise.all([
      served.send(`/api/books/${made[0]?.id}`, {
        method: "DELETE",
        as: key,
        headers: { "content-type": "application/json" },
      }),
      served.send(`/api/books/${made[1]?.id}`, { method: "DELETE", as: key, body: "{not json" }),
    ]);
    expect([bare.status, full.status]).toEqual([204, 204]);
  });
});

describeReplicas("deleting", (serveTwice) => {
  it("one object on two replicas at once succeeds once", async () => {
    const planes = await serveTwice(shop);
    for (let round = 0; round < 10; round += 1) {
      const { id } = await make(planes[0], "books", {}, key);
      const replies = await Promise.all(
        planes.map((plane) => plane.send(`/api/books/${id}`, { method: "DELETE", as: key })),
      );
      expect(replies.map((reply) => reply.status).toSorted()).toEqual([204, 404]);
    }
  });
});
