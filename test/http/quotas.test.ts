// A project's quotas: how much all its resources and root keys may hold together, on one replica
// exactly, over several soon.

import { expect, it } from "vitest";
import type { ProjectQuota } from "../../core/config/types.ts";
import { make, outcome } from "../support/http/api-calls.ts";
import { type Reply, send } from "../support/http/http-client.ts";
import {
  apikey,
  changed,
  type Modifier,
  project,
  withKey,
  withLimits,
  withResource,
  withRootKey,
} from "../support/http/projects.ts";
import {
  describeReplicasEverywhere,
  describeServed,
  describeServedEverywhere,
  type Served,
} from "../support/http/served.ts";
import { eventually } from "../support/time/eventually.ts";

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

describeServedEverywhere("a quota of objects", (serve) => {
  it("counts the objects of all resources, and refuses one more with 403 and a detail that names the quota", async () => {
    const served = await serve(shopWith({ objects: 3 }));
    for (const resource of ["books", "authors", "books"]) expect((await create(served, resource)).status).toBe(201);
    const refused = await create(served, "authors");
    expect(outcome(refused)).toEqual([403, "quota_exceeded"]);
    expect(refused.json<{ detail: string }>().detail).toMatch(/quota `objects`: at most 3 objects/);
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
      expect((await create(served, "few")).json<{ detail: string }>().detail).toMatch(/^The resource may hold/);
    }
    expect((await create(served)).status).toBe(201);
  });
});

describeServedEverywhere("a quota of bytes", (serve) => {
  const text = (bytes: number) => "x".repeat(bytes);
  const post = (served: Served, path: string, body: unknown) =>
    served.send(path, { method: "POST", body: JSON.stringify(body), as });
  const put = (served: Served, path: string, body: unknown) =>
    served.send(path, { method: "PUT", body: JSON.stringify(body), as });

  it("counts the objects' JSON and the root keys' values together", async () => {
    const served = await serve(shopWith({ bytes: 2_000 }));
    const first = await create(served, "books", { text: text(600) });
    expect(first.status).toBe(201);
    expect((await post(served, "/json/kv/a", text(700))).status).toBe(201);
    const left = 2_000 - Buffer.byteLength(first.text) - Buffer.byteLength(`{"a":"${text(700)}"}`);
    const refused = await create(served, "authors", { text: text(left) });
    expect(outcome(refused)).toEqual([403, "quota_exceeded"]);
    expect(refused.json<{ detail: string }>().detail).toMatch(/quota `bytes`: at most 2000 bytes/);
    expect(outcome(await post(served, "/json/list/-", text(left)))).toEqual([403, "quota_exceeded"]);
    // A root key's first write stores what it begins with.
    expect((await post(served, "/json/list/-", text(left - 4))).status).toBe(201);
    expect(outcome(await post(served, "/json/kv/b", 1))).toEqual([403, "quota_exceeded"]);
  });

  it("lets what is full be read, shrunk, replaced by as much and deleted, and has room again at once", async () => {
    const served = await serve(shopWith({ bytes: 1_024 }));
    const { id } = await make(served, "books", { text: text(500) }, as);
    const path = `/api/books/${id}`;
    expect((await post(served, "/json/kv/a", text(300))).status).toBe(201);
    expect(outcome(await put(served, path, { text: text(800) }))).toEqual([403, "quota_exceeded"]);
    expect(outcome(await put(served, "/json/kv/a", text(800)))).toEqual([403, "quota_exceeded"]);
    expect(outcome(await put(served, "/json/kv", { a: text(800) }))).toEqual([403, "quota_exceeded"]);
    expect((await served.send(path, { as })).json<{ text: string }>().text).toHaveLength(500);
    expect((await put(served, path, { text: "y".repeat(500) })).status).toBe(200);
    expect((await put(served, "/json/kv/a", "y".repeat(300))).status).toBe(200);
    expect((await put(served, path, { text: text(10) })).status).toBe(200);
    expect((await put(served, "/json/kv/a", text(600))).status).toBe(200);
    expect((await put(served, "/json/kv", { a: "z" })).status).toBe(200);
    expect((await create(served, "books", { text: text(400) })).status).toBe(201);
    expect(outcome(await create(served, "books", { text: text(400) }))).toEqual([403, "quota_exceeded"]);
    expect((await served.send(path, { method: "DELETE", as })).status).toBe(204);
    expect((await served.send("/json/kv/a", { method: "DELETE", as })).status).toBe(200);
    expect((await create(served, "authors", { text: text(100) })).status).toBe(201);
  });

  it("is never exceeded by parallel writes of every kind", async () => {
    const served = await serve(shopWith({ bytes: 5_000 }));
    const { id } = await make(served, "books", { text: "" }, as);
    const writes = [
      (at: number) => create(served, "books", { text: text(100 + at) }),
      (at: number) => put(served, `/api/books/${id}`, { [`f${at}`]: text(100) }),
      (at: number) => post(served, `/json/kv/k${at}`, text(100)),
      (at: number) => post(served, "/json/list/-", text(100 + at)),
    ];
    const replies = await Promise.all(Array.from({ length: 80 }, (_, at) => writes[at % 4]?.(at)));
    for (const reply of replies) expect([200, 201, 403]).toContain(reply?.status);
    expect(replies.some((reply) => reply?.status === 403)).toBe(true);
    const held = await stored(served);
    expect(held).toBeLessThanOrEqual(5_000);
    expect(held).toBeGreaterThan(4_000);
  });

  it("counts what was there before it was set, in the background", async () => {
    const served = await serve(shop);
    for (let n = 0; n < 5; n += 1) expect((await create(served, "books", { text: text(300) })).status).toBe(201);
    served.change(withLimits({ quota: { bytes: 1_500 } }));
    await eventually(async () =>
      expect(outcome(await create(served, "books", { n: 1 }))).toEqual([403, "quota_exceeded"]),
    );
  });

  /** By reading everything. */
  async function stored(served: Served): Promise<number> {
    const texts: string[] = [];
    for (const resource of ["books", "authors"]) {
      const collection = { project: { namespace: served.namespace, name: "shop" }, resource };
      for await (const some of served.store.scan(collection, {})) texts.push(...some);
    }
    for (const rootKey of ["kv", "list"]) texts.push((await served.send(`/json/${rootKey}`, { as })).text);
    return Buffer.byteLength(texts.join(""));
  }
});

describeServed("every kind of write", (serve) => {
  const text = (bytes: number) => "x".repeat(bytes);

  it("keeps to a quota of bytes: PATCH of an object and of a value, at any depth", async () => {
    const served = await serve(shopWith({ bytes: 1_200 }));
    const { id } = await make(served, "books", { text: text(500) }, as);
    expect((await served.send("/json/kv/a", { method: "POST", body: { b: text(300) }, as })).status).toBe(201);
    const patch = (path: string, body: unknown, type = "merge-patch+json") =>
      served.send(path, {
        method: "PATCH",
        body: JSON.stringify(body),
        as,
        headers: { "content-type": `application/${type}` },
      });
    const replaceText = (bytes: number) => [{ op: "replace", path: "/text", value: text(bytes) }];
    expect(outcome(await patch(`/api/books/${id}`, { more: text(400) }))).toEqual([403, "quota_exceeded"]);
    expect(outcome(await patch(`/api/books/${id}`, replaceText(900), "json-patch+json"))).toEqual([
      403,
      "quota_exceeded",
    ]);
    expect(outcome(await patch("/json/kv/a", { b: text(900) }))).toEqual([403, "quota_exceeded"]);
    expect(outcome(await patch("/json/kv", { c: text(900) }))).toEqual([403, "quota_exceeded"]);
    expect((await patch(`/api/books/${id}`, replaceText(100), "json-patch+json")).status).toBe(200);
    expect((await patch("/json/kv/a", { b: text(500) })).status).toBe(200);
    expect((await patch("/json/kv/a", { b: null })).status).toBe(200);
    expect((await patch(`/api/books/${id}`, { more: text(400) })).status).toBe(200);
  });

  it("answers the repetition of a POST as at first although the quota is full by now", async () => {
    const served = await serve(shopWith({ objects: 1, documentKeys: 1 }));
    const once = (path: string) =>
      served.send(path, { method: "POST", body: { n: 1 }, as, headers: { "idempotency-key": "one" } });
    for (const path of ["/api/books", "/json/kv/a"]) {
      const first = await once(path);
      const again = await once(path);
      expect([first.status, again.status]).toEqual([201, 201]);
      expect(again.text).toBe(first.text);
      const other = { method: "POST", body: { n: 1 }, as };
      expect(outcome(await served.send(path === "/api/books" ? path : "/json/kv/b", other))).toEqual([
        403,
        "quota_exceeded",
      ]);
    }
  });

  it("answers POSTs of one Idempotency-Key alike that compete for the last place", async () => {
    const served = await serve(shopWith({ objects: 1, documentKeys: 1 }));
    for (const path of ["/api/books", "/json/kv/a"]) {
      const once = () =>
        served.send(path, { method: "POST", body: { n: 1 }, as, headers: { "idempotency-key": "one" } });
      const replies = await Promise.all(Array.from({ length: 5 }, once));
      expect([path, ...replies.map(({ status }) => status)]).toEqual([path, 201, 201, 201, 201, 201]);
      expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    }
  });
});

describeServedEverywhere("a quota of document keys", (serve) => {
  const post = (served: Served, path: string) => served.send(path, { method: "POST", body: 1, as });
  const put = (served: Served, path: string, body: unknown = 2) => served.send(path, { method: "PUT", body, as });

  it("counts keys and elements at the top of all root keys, and nothing below", async () => {
    const served = await serve(shopWith({ documentKeys: 3 }));
    expect((await put(served, "/json/kv/a", {})).status).toBe(201);
    expect((await post(served, "/json/kv/b")).status).toBe(201);
    expect((await post(served, "/json/list/0")).status).toBe(201);
    for (const refused of [
      await post(served, "/json/kv/c"),
      await put(served, "/json/kv/c"),
      await post(served, "/json/list/-"),
    ]) {
      expect(outcome(refused)).toEqual([403, "quota_exceeded"]);
      expect(refused.json<{ detail: string }>().detail).toMatch(/quota `documentKeys`: at most 3 members/);
    }
    expect((await post(served, "/json/kv/a/below")).status).toBe(201);
    expect((await put(served, "/json/kv/b")).status).toBe(200);
    expect((await put(served, "/json/list/0")).status).toBe(200);
    expect((await create(served)).status).toBe(201);
    expect((await served.send("/json/kv/b", { method: "DELETE", as })).status).toBe(200);
    expect((await put(served, "/json/kv/c")).status).toBe(201);
  });

  it("measures a whole value by what it adds", async () => {
    const served = await serve(shopWith({ documentKeys: 3 }));
    expect((await put(served, "/json/kv", { a: 1, b: 2 })).status).toBe(200);
    expect(outcome(await put(served, "/json/list", [1, 2]))).toEqual([403, "quota_exceeded"]);
    expect(outcome(await put(served, "/json/kv", { a: 1, b: 2, c: 3, d: 4 }))).toEqual([403, "quota_exceeded"]);
    expect((await put(served, "/json/kv", { c: 1, d: 2 })).status).toBe(200);
    expect((await put(served, "/json/kv", { c: 1 })).status).toBe(200);
    expect((await put(served, "/json/list", [1, 2])).status).toBe(200);
    expect(outcome(await post(served, "/json/kv/e"))).toEqual([403, "quota_exceeded"]);
  });
});

describeServed("what a quota's use is", (serve) => {
  const metrics = async (served: Served): Promise<string[]> => {
    const { text } = await send(served.adminUrl, "/metrics");
    return text.split("\n").filter((line) => /^jsonplane_project_(usage|quota)/.test(line));
  };
  const usage = async (served: Served) =>
    (await send(served.adminUrl, `/usage/${served.base.slice(1)}`)).json<Record<string, unknown>>();

  it("is in metrics, of projects with a quota only, and goes with it", async () => {
    const projects = [shopWith({ objects: 3, documentKeys: 9 }), project("other", withResource("books"))];
    const served = await serve(projects, { quotaRoundMs: 50 });
    await create(served);
    await create(served, "authors");
    await served.send("/json/kv/a", { method: "POST", body: 1, as });
    const labels = (kind: string) => `{namespace="${served.namespace}",project="shop",kind="${kind}"}`;
    const known = [
      `jsonplane_project_usage${labels("objects")} 2`,
      `jsonplane_project_usage${labels("documentKeys")} 1`,
      `jsonplane_project_quota${labels("objects")} 3`,
      `jsonplane_project_quota${labels("documentKeys")} 9`,
    ];
    // A write that comes while the use is counted may be counted twice until it is counted again.
    await eventually(async () => expect(await metrics(served)).toEqual(known));
    served.live.remove({ namespace: served.namespace, name: "shop" });
    await eventually(async () => expect(await metrics(served)).toEqual([]));
  });

  it("is at /usage, beside the requests, as JSON and on the page", async () => {
    const served = await serve([shopWith({ objects: 1_500 }), project("other")]);
    await create(served);
    expect(await usage(served)).toMatchObject({ quotas: { objects: { used: 1, limit: 1_500 } } });
    const all = await send(served.adminUrl, "/usage");
    expect(all.json()).toMatchObject({
      count: 1,
      projects: { [`${served.namespace}/shop`]: { requestsLastHour: 0, quotas: { objects: { used: 1 } } } },
    });
    for (const path of ["/usage", `/usage/${served.base.slice(1)}`]) {
      const page = await send(served.adminUrl, path, { headers: { accept: "text/html" } });
      const cells = [...page.text.matchAll(/<tr>(.*?)<\/tr>/g)].map(([, row = ""]) =>
        row.split(/<[^>]+>/).filter(Boolean),
      );
      expect(cells).toContainEqual(["objects", "1", "1,500"]);
    }
    expect((await send(served.adminUrl, `/usage/${served.namespace}/other`)).json()).not.toHaveProperty("quotas");
  });

  it("is known of a project that nobody writes to", async () => {
    const served = await serve(shop, { quotaRoundMs: 50 });
    await create(served);
    served.change(withLimits({ quota: { objects: 3 } }));
    await eventually(async () =>
      expect(await usage(served)).toMatchObject({ quotas: { objects: { used: 1, limit: 3 } } }),
    );
  });
});

describeReplicasEverywhere("a quota", (serveTwice) => {
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

  it("of bytes is kept exactly by both replicas' writes, whoever counts", async () => {
    const replicas = await serveTwice(shopWith({ bytes: 50_000 }));
    const [one, other] = replicas;
    const collection = { project: { namespace: one.namespace, name: "shop" }, resource: "books" };
    await Promise.all(
      Array.from({ length: 60 }, async (_, at) => {
        const served = replicas[at % 2] ?? one;
        const { id } = await make(served, "books", { text: "é".repeat(at) }, as);
        if (at % 3 === 0) await other.send(`/api/books/${id}`, { method: "DELETE", as });
        else await one.send(`/api/books/${id}`, { method: "PUT", body: { text: "y".repeat(2 * at) }, as });
      }),
    );
    const read: string[] = [];
    for await (const texts of one.store.scan(collection, {})) read.push(...texts);
    const bytes = Buffer.byteLength(read.join(""));
    expect(await other.store.collectionSize(collection)).toEqual({ objects: 40, bytes, isCounted: true });
  });
});
