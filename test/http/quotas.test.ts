// A project's quotas: how much all its resources and root keys may hold together, on one replica exactly, over several soon.

import { expect, it } from "vitest";
import type { ProjectQuota } from "../../core/config/types.ts";
import { make, outcome } from "../support/api-calls.ts";
import { eventually } from "../support/eventually.ts";
import type { Reply } from "../support/http-client.ts";
import {
  apikey,
  changed,
  type Modifier,
  project,
  withKey,
  withLimits,
  withResource,
  withRootKey,
} from "../support/projects.ts";
import { describeReplicas, describeServed, type Served } from "../support/served.ts";

const as = apikey("admin");
const shop = project(
  "shop",
  withKey("admin", { role: "Administrators" }),
  withResource("books"),
  withResource("authors"),
  withRootKey("kv", { initialValue: "{}" }),
  withRootKey("list", { initialValue: "[]" }),
);
const shopWith = (quota: ProjectQuota, ...more: readonly Modifier[]) => changed(shop, withLimits({ quota }), ...more);

const create = (served: Served, resource = "books", body: unknown = {}) =>
  served.send(`/api/${resource}`, { method: "POST", body, as });
const total = async (served: Served): Promise<number> => {
  const counts = ["books", "authors"].map(async (resource) => {
    const reply = await served.send(`/api/${resource}?_limit=1`, { as });
    return reply.json<{ count: number }>().count;
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
};
const created = (replies: readonly Reply[]) => replies.filter(({ status }) => status === 201).length;

describeServed("a quota of objects", (serve) => {
  it("counts the objects of all resources, and refuses one more with 403 and a detail that names the quota", async () => {
    const served = await serve(shopWith({ objects: 3 }));
    for (const resource of ["books", "authors", "books"]) expect((await create(served, resource)).status).toBe(201);
    const refused = await create(served, "authors");
    expect(outcome(refused)).toEqual([403, "quota_exceeded"]);
    expect(refused.json<{ detail: string }>().detail).toMatch(/quota objects .* 3 of at most 3/);
    expect(await total(served)).toBe(3);
  });

  it("leaves reads, changes and deletions alone, and has room again at once after a deletion", async () => {
    const served = await serve(shopWith({ objects: 1 }));
    const { id } = await make(served, "books", { n: 1 }, as);
    expect(outcome(await create(served))).toEqual([403, "quota_exceeded"]);
    expect((await served.send(`/api/books/${id}`, { as })).status).toBe(200);
    expect((await served.send(`/api/books/${id}`, { method: "PUT", body: { n: 2 }, as })).status).toBe(200);
    expect((await served.send("/json/kv/a", { method: "POST", body: 1, as })).status).toBe(201);
    expect((await served.send(`/api/books/${id}`, { method: "DELETE", as })).status).toBe(204);
    expect((await create(served)).status).toBe(201);
  });

  it("holds exactly under parallel creates", async () => {
    const served = await serve(shopWith({ objects: 10 }));
    const replies = await Promise.all(
      Array.from({ length: 40 }, (_, at) => create(served, at % 2 ? "books" : "authors")),
    );
    expect(created(replies)).toBe(10);
    expect(await total(served)).toBe(10);
  });

  it("counts what was there before it was set, refuses what is above it already, and ends when it is taken away", async () => {
    const served = await serve(shop);
    for (let n = 0; n < 3; n += 1) expect((await create(served)).status).toBe(201);
    served.change(withLimits({ quota: { objects: 2 } }));
    expect(outcome(await create(served))).toEqual([403, "quota_exceeded"]);
    served.change(withLimits({ quota: { objects: 4 } }));
    expect((await create(served)).status).toBe(201);
    expect(outcome(await create(served))).toEqual([403, "quota_exceeded"]);
    served.change((parts) => {
      const { quota: _, ...limits } = parts.project.limits;
      return { ...parts, project: { ...parts.project, limits } };
    });
    expect((await create(served)).status).toBe(201);
  });

  it("has a place set aside no longer when the write is refused for another reason", async () => {
    const served = await serve(shopWith({ objects: 2 }, withResource("few", { maxObjects: 1 })));
    expect((await create(served, "few")).status).toBe(201);
    for (let n = 0; n < 3; n += 1) {
      expect((await create(served, "few")).json<{ detail: string }>().detail).toMatch(/^The resource holds/);
    }
    expect((await create(served)).status).toBe(201);
  });
});

describeReplicas("a quota", (serveTwice) => {
  it("is shared: what one replica wrote, the other one counts within seconds, and no more than that is too much", async () => {
    const replicas = await serveTwice(shopWith({ objects: 20 }));
    const [one, other] = replicas;
    // Both know the usage now; from here on neither asks the other.
    for (const each of replicas) expect((await create(each)).status).toBe(201);
    const replies = await Promise.all(Array.from({ length: 60 }, (_, at) => create(replicas[at % 2] ?? one)));
    expect(created(replies)).toBeGreaterThanOrEqual(18);
    for (const each of replicas) {
      await eventually(async () => expect(outcome(await create(each))).toEqual([403, "quota_exceeded"]));
    }
    const stored = await total(one);
    expect(stored).toBeGreaterThanOrEqual(20);
    expect(stored).toBeLessThanOrEqual(40);
    expect(await total(other)).toBe(stored);
  });

  it("has room again on one replica after the other one deleted", async () => {
    const [one, other] = await serveTwice(shopWith({ objects: 1 }));
    const { id } = await make(one, "books", {}, as);
    expect(outcome(await create(other))).toEqual([403, "quota_exceeded"]);
    expect(outcome(await create(one))).toEqual([403, "quota_exceeded"]);
    expect((await one.send(`/api/books/${id}`, { method: "DELETE", as })).status).toBe(204);
    await eventually(async () => expect((await create(other)).status).toBe(201));
  });
});
