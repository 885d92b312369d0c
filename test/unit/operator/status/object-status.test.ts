import { describe, expect, it } from "vitest";
import type { CompiledProject } from "../../../../core/config/types.ts";
import type { CustomResource } from "../../../../operator/model/objects.ts";
import type { Verdict } from "../../../../operator/model/verdict.ts";
import { refusalsByUid, type Status, statusOf } from "../../../../operator/status/object-status.ts";
import type { ObjectOutcome } from "../../../../operator/status/outcomes.ts";
import { changed, project, withConfig, withResource, withRootKey, withUser } from "../../../support/http/projects.ts";
import { projectObjects, stored, terminating } from "../../../support/kubernetes/stored-crs.ts";

const now = Date.parse("2026-11-21T12:00:00Z");
const baseUrl = "https://api.example.org/default/shop";

function verdictOf({ kind, metadata }: CustomResource): Verdict {
  const { namespace, name, uid } = metadata;
  return { kind, namespace, name, uid, accepted: true, notices: [] };
}

function refusedOf(object: CustomResource, live: boolean): Verdict {
  return { ...verdictOf(object), accepted: false, reason: "InvalidSpec", faults: [{ message: "Bad" }], live };
}

function found(object: CustomResource, more: Partial<ObjectOutcome> = {}): Status {
  return statusOf(object, {
    verdict: verdictOf(object),
    progress: { state: "programmed" },
    availability: "served",
    objects: projectObjects("shop", object),
    baseUrl,
    now,
    ...more,
  });
}

describe("the status of", () => {
  it("a Project has its address and counts its children, Terminating ones too", () => {
    const objects = projectObjects(
      "shop",
      stored("Project", "shop"),
      stored("ApiResource", "books"),
      stored("ApiResource", "films", { metadata: terminating }),
      stored("ProjectUser", "ann"),
    );
    expect(found(stored("Project", "shop"), { objects })).toMatchObject({
      observedGeneration: 1,
      liveGeneration: 1,
      baseURL: baseUrl,
      children: { apiResources: 2, projectUsers: 1, apiKeys: 0, rootKeys: 0 },
    });
  });

  it("a Project has the quotas and rates of what is served, in whatever spec, and none where nothing is", () => {
    const quota = { objects: 100 };
    const rate = { project: { requestsPerSecond: 50, burst: 80 } };
    const limited = (limits: object) => {
      const { project: settings, ...config } = project("shop");
      return { ...config, project: { ...settings, limits: { ...settings.limits, ...limits } } };
    };
    const shop = stored("Project", "shop", {
      spec: { limits: { quota: { objects: 5_000 } } },
      status: { effectiveLimits: { quota: { bytes: 7 } } },
    });
    expect(found(shop, { config: limited({ quota, rate }) })).toMatchObject({ effectiveLimits: { quota, rate } });
    // An undefined member would differ from what the API server keeps, and be written again and
    // again.
    expect(found(shop, { config: limited({ quota }) })["effectiveLimits"]).toStrictEqual({ quota });
    expect(found(shop, { config: limited({}) })).not.toHaveProperty("effectiveLimits");
    expect(found(shop, { verdict: refusedOf(shop, false) })).not.toHaveProperty("effectiveLimits");
    // What is served while Redis is away is what was published before.
    expect(found(shop, { verdict: refusedOf(shop, true) })).toMatchObject({ effectiveLimits: { quota: { bytes: 7 } } });
  });

  it("an ApiResource has its address, its indexes and what its schema says in vain", () => {
    const config = project("shop", withResource("old books", { indexes: ["title"] }));
    const uid = config.resources.get("old books")?.uid ?? "";
    const books = stored("ApiResource", "books", { metadata: { uid }, spec: { resourceName: "old books" } });
    const verdict: Verdict = {
      ...verdictOf(books),
      accepted: true,
      notices: [{ reason: "SchemaWarning", message: 'Unknown keyword "typ"', pointer: "/spec/schema/typ" }],
    };
    expect(found(books, { config, verdict })).toMatchObject({
      url: `${baseUrl}/api/old%20books`,
      indexes: ["title"],
      warnings: ['/spec/schema/typ: Unknown keyword "typ"'],
    });
  });

  it("an ApiResource names those of its indexes that are being built", () => {
    const fields = ["title", "price"].map((name) => ({ name, path: [name] }));
    const config = project(
      "shop",
      withResource("books", { indexes: ["title", "price", "title,price"], unique: [{ fields }] }),
    );
    const uid = config.resources.get("books")?.uid ?? "";
    const books = stored("ApiResource", "books", { metadata: { uid } });
    const building = new Map([
      ["books", ["unique(title,price)", "title,price", "price", "of before"]],
      ["films", ["title"]],
    ]);
    const verdict: Verdict = { ...verdictOf(books), accepted: true, notices: [] };
    expect(found(books, { config, verdict, building })).toMatchObject({
      indexesBuilding: ["price", "title,price", "unique(title,price)"],
    });
    expect(found(books, { config, verdict, building: new Map() })).not.toHaveProperty("indexesBuilding");
  });

  it("a RootKey has its address", () => {
    expect(found(stored("RootKey", "flags"))).toMatchObject({ url: `${baseUrl}/json/flags` });
  });

  it("something that is not served names no address", () => {
    const status = found(stored("RootKey", "flags"), { verdict: refusedOf(stored("RootKey", "flags"), false) });
    expect(status).not.toHaveProperty("url");
    expect(status).not.toHaveProperty("liveGeneration");
  });

  it("something that is being deleted names no address", () => {
    expect(found(stored("Project", "shop", { metadata: terminating }))).not.toHaveProperty("baseURL");
  });

  it("a key keeps what was said of it before while nothing is said anew", () => {
    const former = { keyID: "k1", secretName: "ci-api-key", rotatedAt: "2026-01-01T00:00:00Z" };
    expect(found(stored("ApiKey", "ci", { status: former }))).toMatchObject(former);
  });

  it("a key loses the expiry of its former key with that key", () => {
    const status = { keyID: "k2", previousKeyExpiresAt: "2026-01-02T00:00:00Z" };
    const facts = { keyID: "k2", secretName: "ci-api-key", rotatedAt: "2026-01-01T00:00:00Z" };
    const now = found(stored("ApiKey", "ci", { status }), { facts });
    expect(now).toMatchObject(facts);
    expect(now).not.toHaveProperty("previousKeyExpiresAt");
  });

  it("a user names the login also before there is a password", () => {
    const ann = stored("ProjectUser", "ann", { spec: { username: "ann@example.org" } });
    expect(found(ann, { verdict: refusedOf(ann, false) })).toMatchObject({ username: "ann@example.org" });
  });

  it("a broken object says which generation is served", () => {
    const flags = stored("RootKey", "flags", { metadata: { generation: 3 }, status: { liveGeneration: 2 } });
    expect(found(flags, { verdict: refusedOf(flags, true) })).toMatchObject({
      observedGeneration: 3,
      liveGeneration: 2,
    });
  });

  it("an object whose newest spec is on its way goes on naming the one before", () => {
    const flags = stored("RootKey", "flags", { metadata: { generation: 3 }, status: { liveGeneration: 2 } });
    expect(found(flags, { progress: { state: "waiting" } })).toMatchObject({ liveGeneration: 2 });
  });

  it("the same knowledge is the same status, whatever the time", () => {
    const first = found(stored("ApiResource", "books"));
    const again = found(stored("ApiResource", "books", { status: first }), { now: now + 60_000 });
    expect(again).toEqual(first);
  });
});

describe("refusals of replicas", () => {
  const config: CompiledProject = changed(
    project("shop", withResource("books"), withRootKey("flags"), withUser("ann")),
    withConfig({ uid: "p" }),
  );
  const uidOf = (map: ReadonlyMap<string, { readonly uid: string }>): string => [...map.values()][0]?.uid ?? "";

  it("concern the object that the field is of", () => {
    const refusals = [
      { field: "resource:books", reason: "schema" },
      { field: "signing", reason: "sealed with an unknown key" },
      { field: "user:hash of ann", reason: "format" },
      { field: "rootkey:gone", reason: "format" },
    ];
    expect(refusalsByUid(config, refusals, (name) => `user:hash of ${name}`)).toEqual(
      new Map([
        [uidOf(config.resources), "schema"],
        ["p", "sealed with an unknown key"],
        [uidOf(config.users), "format"],
      ]),
    );
  });

  it("make one message in whatever order the replicas are asked", () => {
    const one = { field: "project", reason: "a" };
    const other = { field: "signing", reason: "b" };
    const orders = [
      [one, other],
      [other, one],
    ];
    for (const refusals of orders) expect(refusalsByUid(config, refusals, String).get("p")).toBe("a");
  });
});
