// Objects that are migrated to a next schema: what writes do meanwhile, and that none is lost.

import { expect, it } from "vitest";
import type { CheckFigures, CheckProgress } from "../../core/config/object-check.ts";
import type { JsonObject } from "../../core/config/types.ts";
import { stepsOf } from "../../dataplane/objects/check/migrate-step.ts";
import { storedRules } from "../../dataplane/objects/validate-object.ts";
import { collectionOf } from "../../dataplane/store/ports/refs.ts";
import { list, make, outcome, type ServedObject } from "../support/http/api-calls.ts";
import { apikey, project, withConfig, withKey, withResource } from "../support/http/projects.ts";
import { describeServedOnBothStores, type Served } from "../support/http/served.ts";

const admin = apikey("admin");
const former: JsonObject = { properties: { fullName: {}, age: {} } };
const nextSchema: JsonObject = {
  type: "object",
  required: ["name"],
  properties: { name: { type: "string" }, age: {} },
  additionalProperties: false,
};
const migration: readonly JsonObject[] = [{ op: "move", from: "/fullName", path: "/name" }];
const shop = project(
  "shop",
  withKey("admin", { role: "Administrators" }),
  withResource("people", { schema: former, indexes: ["fullName"], scope: { read: "All" } }),
);
const scope = { read: "All" } as const;
const migrating = withResource("people", { schema: former, nextSchema, migration, indexes: ["fullName"], scope });
const looking = withResource("people", { schema: former, nextSchema, migration, binds: false, scope: { read: "All" } });

/** What a replica does that carries out the order; `after` is called with each step. */
async function migrate(served: Served, stage: "look" | "final" = "final", after?: () => void): Promise<CheckFigures> {
  const { directory } = served.live;
  const [live] = directory.loaded().filter(({ config }) => config.namespace === served.namespace);
  const resource = live?.resources.get("people");
  if (live === undefined || resource === undefined) throw new Error("It isn't served");
  const collection = collectionOf(live.config, resource);
  await served.plane.preparer.prepare(resource, collection);
  const rules = storedRules(resource, live.config);
  const step = stepsOf({ store: served.store, writes: served.plane.quotas.storeFor(live), collection, rules }, stage);
  for (let progress: CheckProgress | undefined; ; ) {
    const next = await step(progress);
    if (next.isDone) return next.figures;
    progress = next.figures;
    after?.();
  }
}

const people = async (served: Served) => (await list(served, "people?_limit=100&_sort=_metadata.created", admin)).items;
const as = admin;
const post = (served: Served, body: object) => served.send("/api/people", { method: "POST", body, as });

describeServedOnBothStores("objects that are migrated", (serve) => {
  it("are replaced where they don't meet the next schema, and left alone where they do", async () => {
    const served = await serve(shop);
    const ann = await make(served, "people", { fullName: "Ann", age: 5 }, admin);
    const bob = await make(served, "people", { name: "Bob" }, admin);
    served.change(looking);
    expect(await migrate(served, "look")).toEqual({ checked: 2, invalid: 0, examples: [], migrated: 1 });
    expect(await list(served, "people?_valid=false", admin)).toMatchObject({ count: 0 });
    expect(await people(served)).toEqual([ann, bob]);
    served.change(migrating);
    expect(await migrate(served)).toMatchObject({ checked: 2, invalid: 0, migrated: 1 });
    const { id, _metadata } = ann;
    expect(await people(served)).toEqual([{ id, age: 5, name: "Ann", _metadata }, bob]);
    expect((await migrate(served)).migrated).toBeUndefined();
    // Its index follows.
    expect(await list(served, "people?fullName=Ann", admin)).toMatchObject({ count: 0 });
  });

  it("are not patched where they meet the next schema, although the patch would change them", async () => {
    const served = await serve(shop);
    for (const body of [{ n: 5 }, {}]) await make(served, "people", body, admin);
    const patch: readonly JsonObject[] = [{ op: "add", path: "/n", value: 1 }];
    served.change(withResource("people", { schema: former, nextSchema: { required: ["n"] }, migration: patch, scope }));
    for (const body of [{ n: 7 }, {}]) await make(served, "people", body, admin);
    expect(await migrate(served)).toMatchObject({ checked: 4, migrated: 1 });
    expect((await people(served)).map(({ n }) => n)).toEqual([5, 1, 7, 1]);
  });

  it("are none, where one of them would be invalid all the same: nothing is replaced", async () => {
    const served = await serve(shop);
    const before: ServedObject[] = [];
    for (const body of [{ fullName: "Ann" }, { fullName: 5 }, { age: 7 }]) {
      before.push(await make(served, "people", body, admin));
    }
    served.change(migrating);
    const keywords = async () => (await migrate(served)).examples.map(({ id, keyword }) => [id, keyword]);
    expect(await keywords()).toEqual([
      [before[1]?.id, "type"],
      [before[2]?.id, "required"],
    ]);
    expect(await people(served)).toEqual(before);
  });

  it("are written meanwhile in either form, and stored in the next one; what has neither is refused", async () => {
    const served = await serve(shop);
    const { id } = await make(served, "people", { fullName: "Ann" }, admin);
    served.change(migrating);
    const [old, recent, wrong] = [{ fullName: "Bob" }, { name: "Cid" }, { fullName: 5 }];
    expect((await post(served, old)).json()).toMatchObject({ name: "Bob" });
    expect((await post(served, recent)).json()).toMatchObject({ name: "Cid" });
    const refused = await post(served, wrong);
    expect(outcome(refused)).toEqual([400, "validation_failed"]);
    expect(refused.json()).toMatchObject({ errors: [{ pointer: "/name", keyword: "type" }] });
    const update = (method: "PUT" | "PATCH", body: object) =>
      served.send(`/api/people/${id}`, {
        method,
        body: JSON.stringify(body),
        as,
        headers: { "content-type": method === "PUT" ? "application/json" : "application/merge-patch+json" },
      });
    expect((await update("PUT", { fullName: "Eve" })).json()).toMatchObject({ id, name: "Eve" });
    // By a client that doesn't know yet.
    expect((await update("PATCH", { fullName: "Eva" })).json()).toMatchObject({ id, name: "Eva" });
    expect(outcome(await update("PUT", { name: 5 }))).toEqual([400, "validation_failed"]);
    expect((await people(served)).map(({ name }) => name)).toEqual(["Eva", "Bob", "Cid"]);
  });

  it("keep what clients write by the next schema, although the patch would put former values there", async () => {
    const served = await serve(shop);
    const status = { properties: { status: { default: "new" }, stock: { default: 0 } } };
    const renamed = {
      required: ["state", "stock"],
      properties: { state: { default: "fresh" }, stock: { default: 0 } },
      additionalProperties: false,
    };
    const patch: readonly JsonObject[] = [{ op: "move", from: "/status", path: "/state" }];
    served.change(withResource("people", { schema: status, defaults: "Apply", scope }));
    const ids: string[] = [];
    for (let n = 0; n < 4; n += 1) ids.push((await make(served, "people", {}, admin)).id);
    served.change(
      withResource("people", { schema: status, nextSchema: renamed, migration: patch, defaults: "Apply", scope }),
    );
    const written = async (method: string, path: string, body: object, type = "application/json") => {
      const sent = { method, body: JSON.stringify(body), as, headers: { "content-type": type } };
      const { state, stock } = (await served.send(`/api/people${path}`, sent)).json<Record<string, unknown>>();
      return [state, stock];
    };
    expect(await written("PUT", `/${ids[0]}`, { state: "paid" })).toEqual(["paid", 0]);
    expect(await written("PUT", `/${ids[1]}`, { status: "paid" })).toEqual(["paid", 0]);
    expect(await written("PATCH", `/${ids[2]}`, { state: "paid" }, "application/merge-patch+json")).toEqual([
      "paid",
      0,
    ]);
    const replace = [{ op: "replace", path: "/state", value: "paid" }];
    expect(await written("PATCH", `/${ids[3]}`, replace, "application/json-patch+json")).toEqual(["paid", 0]);
    expect(await written("POST", "", { state: "paid" })).toEqual(["paid", 0]);
    expect(await written("POST", "", { status: "paid" })).toEqual(["paid", 0]);
    expect(await written("POST", "", {})).toEqual(["fresh", 0]);
  });

  it("lose nothing that is written while they are replaced", async () => {
    const served = await serve(shop);
    const ids: string[] = [];
    for (let n = 0; n < 120; n += 1) ids.push((await make(served, "people", { fullName: `n${n}` }, admin)).id);
    served.change(migrating);
    const writes: Promise<unknown>[] = [];
    let step = 0;
    await migrate(served, "final", () => {
      for (const id of ids.slice(step * 20, step * 20 + 20)) {
        writes.push(served.send(`/api/people/${id}`, { method: "PUT", body: { age: step }, as }));
      }
      step += 1;
    });
    await Promise.all(writes);
    const all = [...(await people(served)), ...(await list(served, "people?_limit=100&_offset=100", admin)).items];
    expect(all.every((each) => each["fullName"] === undefined && typeof each["name"] === "string")).toBe(true);
    expect(all.filter((each) => each["age"] !== undefined)).toHaveLength(Math.min(120, step * 20));
  });

  it("end with the first one that can't be replaced, which is said", async () => {
    const quota = (bytes: number) => withConfig({ limits: { ...shop.project.limits, quota: { bytes } } });
    const served = await serve(shop);
    const { id } = await make(served, "people", { fullName: "Ann" }, admin);
    const longer = [
      { op: "add", path: "/name", value: "x".repeat(2_000) },
      { op: "remove", path: "/fullName" },
    ];
    const change = withResource("people", { schema: former, nextSchema, migration: longer, scope: { read: "All" } });
    served.change(quota(1_000), change);
    const example = { id, pointer: "", keyword: "quota_exceeded" };
    expect(await migrate(served)).toMatchObject({ checked: 1, invalid: 1, examples: [example] });
    expect(await people(served)).toMatchObject([{ fullName: "Ann" }]);
  });
});
