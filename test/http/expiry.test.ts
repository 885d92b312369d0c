// Objects that expire: in no answer from their time on, and removed where nobody asks for them.

import { afterEach, beforeAll, expect, it } from "vitest";
import { type SweepObservation, sweepExpired } from "../../dataplane/expiry/sweep.ts";
import { list, make, outcome } from "../support/http/api-calls.ts";
import { closeStreams, follow } from "../support/http/event-stream.ts";
import type { Reply } from "../support/http/http-client.ts";
import { apikey, project, withKey, withResource } from "../support/http/projects.ts";
import { describeServedOnBothStores, type Served } from "../support/http/served.ts";
import { eventually } from "../support/time/eventually.ts";

const key = apikey("shop");
const time = { type: ["string", "null"], format: "date-time" };
const carts = {
  schema: { properties: { until: time, status: { type: "string" } } },
  indexes: ["status"],
  changes: { retentionSeconds: 3_600, maxEntries: 1_000 },
} as const;
const byField = { field: { name: "until", path: ["until"] } } as const;
const shop = project(
  "shop",
  withKey("shop"),
  withResource("carts", { ...carts, expiry: byField }),
  withResource("tokens", { schema: { properties: { until: { type: "integer" } } }, expiry: byField }),
  withResource("kept", carts),
);

const soonMs = 1_000;
const timeIn = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();
const until = async (end: string) => {
  while (Date.now() <= Date.parse(end)) await new Promise((resume) => setTimeout(resume, 5));
};
const merge = { "content-type": "application/merge-patch+json" };

describeServedOnBothStores("an object that expires", (serve) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(shop);
    // The first requests take their time.
    for (const resource of ["carts", "tokens"]) await list(served, resource, key);
  });
  const put = (path: string, body: unknown) => served.send(path, { method: "PUT", body, as: key });

  it("is in no answer from its time on", async () => {
    const end = timeIn(soonMs);
    const lost = await make(served, "carts", { until: end, status: "a" }, key);
    const kept = await make(served, "carts", { until: timeIn(3_600_000), status: "a" }, key);
    const path = `/api/carts/${lost.id}`;
    expect((await served.send(path, { as: key })).status).toBe(200);
    expect(await list(served, "carts?status=a", key)).toMatchObject({ count: 2 });
    await until(end);
    for (const sent of [
      {},
      { method: "PUT", body: { status: "b" } },
      { method: "PATCH", body: { status: "b" }, headers: merge },
      { method: "PUT", body: { until: timeIn(3_600_000) }, headers: { "if-match": "*" } },
      { method: "DELETE" },
      { method: "DELETE", headers: { "if-match": "*" } },
    ]) {
      expect(outcome(await served.send(path, { ...sent, as: key }))).toEqual([404, "not_found"]);
    }
    const queries = [
      "",
      "?status=a",
      "?_sort=-status",
      "?_sort=until",
      "?_cursor=",
      "?until:exists=true",
      "?status:ne=b",
    ];
    for (const query of queries) {
      const page = await list(served, `carts${query}`, key);
      expect([query, page.count, page.items.map(({ id }) => id)]).toEqual([query, 1, [kept.id]]);
    }
  });

  it("is described to clients", async () => {
    const { tags } = (await served.send("/openapi.json", { as: key })).json<{ tags: readonly object[] }>();
    const description = expect.stringContaining("expires at the time in `until`");
    expect(tags).toContainEqual({ name: "api/carts", description });
  });

  it("is refused where its time has come already, with the place of the time", async () => {
    const errors = [expect.objectContaining({ pointer: "/until", keyword: "expiry" })];
    const refusal = [400, expect.objectContaining({ code: "validation_failed", errors })];
    const answer = (reply: Reply) => [reply.status, reply.json()];
    const past = timeIn(-1_000);
    expect(answer(await served.send("/api/carts", { method: "POST", body: { until: past }, as: key }))).toEqual(
      refusal,
    );
    const seconds = Math.floor(Date.now() / 1_000) - 1;
    const token = await served.send("/api/tokens", { method: "POST", body: { until: seconds }, as: key });
    expect(answer(token)).toEqual(refusal);
    const { id } = await make(served, "carts", { status: "open" }, key);
    const path = `/api/carts/${id}`;
    expect(answer(await put(path, { until: past }))).toEqual(refusal);
    const patch = await served.send(path, { method: "PATCH", body: { until: past }, headers: merge, as: key });
    expect(answer(patch)).toEqual(refusal);
    expect((await served.send(path, { as: key })).json()).toMatchObject({ status: "open" });
  });

  it("lives on where an update moves its time, or takes it away", async () => {
    const end = timeIn(soonMs);
    const [moved, freed] = await Promise.all([1, 2].map(() => make(served, "carts", { until: end }, key)));
    await put(`/api/carts/${moved?.id}`, { until: timeIn(3_600_000) });
    await put(`/api/carts/${freed?.id}`, { until: null });
    await until(end);
    for (const cart of [moved, freed]) {
      expect((await served.send(`/api/carts/${cart?.id}`, { as: key })).status).toBe(200);
    }
  });

  it("is answered as before to a POST that repeats its own", async () => {
    const end = timeIn(soonMs);
    const post = () =>
      served.send("/api/carts", {
        method: "POST",
        body: { until: end },
        headers: { "idempotency-key": '"once"' },
        as: key,
      });
    const first = await post();
    await until(end);
    const again = await post();
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect((await served.send(`/api/carts/${first.json<{ id: string }>().id}`, { as: key })).status).toBe(404);
  });
});

describeServedOnBothStores("the removal of what has expired", (serve) => {
  const sweeps: { stop(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const sweep of sweeps.splice(0)) await sweep.stop();
    await closeStreams();
  });
  const sweep = (served: Served) => {
    const observed: SweepObservation[] = [];
    const failures: unknown[] = [];
    const { store, live, plane } = served;
    const observe = (observation: SweepObservation) => observed.push(observation);
    const onFailed = (failure: unknown) => failures.push(failure);
    sweeps.push(sweepExpired({ store, directory: live.directory, preparer: plane.preparer, observe, onFailed }));
    return { observed, failures };
  };

  it("happens where nobody asks, and tells those who follow changes", async () => {
    const served = await serve(shop);
    const stream = await follow(served, "/api/carts", { as: key });
    const { failures } = sweep(served);
    const [{ id }] = await Promise.all([
      make(served, "carts", { until: timeIn(soonMs) }, key),
      make(served, "tokens", { until: Math.ceil((Date.now() + soonMs) / 1_000) }, key),
    ]);
    expect(await stream.changes(2)).toMatchObject([
      { event: "put", data: { id } },
      { event: "delete", data: { resource: "carts", id } },
    ]);
    const project = { namespace: served.namespace, name: "shop" };
    const left = async (resource: string) => (await served.store.collectionSize({ project, resource })).objects;
    await eventually(async () => expect([await left("carts"), await left("tokens")]).toEqual([0, 0]));
    expect(failures).toEqual([]);
  });

  it("leaves alone what expires no longer", async () => {
    const served = await serve(shop);
    const end = timeIn(soonMs);
    const { id } = await make(served, "carts", { until: end }, key);
    await served.send("/api/carts", { as: key });
    served.change(withResource("carts", carts));
    const { observed } = sweep(served);
    await until(end);
    await eventually(async () => {
      const taken = await served.store.takeExpiring(1_000, 0);
      const own = taken.filter(({ collection }) => collection.project.namespace === served.namespace);
      expect(own).toEqual([]);
    });
    expect(observed).toEqual(observed.filter(({ removed }) => removed === 0));
    expect((await served.send(`/api/carts/${id}`, { as: key })).status).toBe(200);
  });
});
