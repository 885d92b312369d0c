// What was served is reported in statuses of its own time: once, after replicas had a moment to
// acknowledge it, and not where it is over by then. What is being deleted or contested is reported
// in the run that serves it.

import { describe, expect, it } from "vitest";
import { ApiFailure } from "../../../../operator/kube/api.ts";
import { NotTheLeader } from "../../../../operator/lead/elector.ts";
import type { DataEntry, DataInventory } from "../../../../operator/model/data-inventory.ts";
import type { KnownIssuer } from "../../../../operator/model/issuers.ts";
import type { CustomResource } from "../../../../operator/model/objects.ts";
import type { DeletionRequest } from "../../../../operator/stored-data/deletion-requests.ts";
import { stored, terminating } from "../../../support/kubernetes/stored-crs.ts";
import { key, leader, type World } from "./key-leader.ts";

const settings = stored("RootKey", "settings");
const quiet: World = { objects: [settings], deleted: [], namespaceUid: "ns" };
const anew = { requeueAfterMs: 0 };
const isReport = ([what]: readonly unknown[]): boolean => what === "write" || what === "reported";

describe("what was served", () => {
  it("counts as published before any status says so", async () => {
    const { serve, processed, calls } = leader(quiet);
    expect(await serve()).toEqual({ requeue: "report" });
    expect(processed).toEqual([[key, { done: {}, nothingMissing: true }]]);
    expect(calls.filter(isReport)).toEqual([]);
  });

  it("is reported once replicas have acknowledged it", async () => {
    const { serve, report, calls } = leader(quiet);
    await serve();
    expect(await report()).toBeUndefined();
    expect(calls.filter(isReport)).toEqual([
      ["write", []],
      ["reported", key, undefined],
    ]);
  });

  it("is reported as waiting for replicas where they have not, and its revision is watched for", async () => {
    const { serve, report, calls } = leader({ ...quiet, rollout: "waiting" });
    await serve();
    await report();
    const awaited = { revision: 7, state: "waiting", isServed: true };
    expect(calls.filter(isReport).at(-1)).toEqual(["reported", key, awaited]);
  });

  it("twice is reported once, as it was served last", async () => {
    const { serve, report, calls } = leader(quiet);
    await serve();
    await serve();
    await report();
    expect(await report()).toEqual(anew);
    expect(calls.filter(([what]) => what === "write")).toHaveLength(1);
  });

  it("is served anew, and not reported, where another run has failed since", async () => {
    const world = { ...quiet } as { -readonly [K in keyof World]: World[K] };
    const { serve, report, calls } = leader(world);
    await serve();
    world.lateFailure = new ApiFailure(500, { message: "no" });
    await expect(serve()).rejects.toBe(world.lateFailure);
    expect(await report()).toEqual(anew);
    expect(calls.filter(isReport)).toEqual([]);
  });
});

describe("what is over by the time that it would be reported", () => {
  const more = stored("RootKey", "more");
  it.each<readonly [string, readonly CustomResource[]]>([
    ["an object was changed", [stored("RootKey", "settings", { metadata: { generation: 2 } })]],
    ["an object was recreated", [stored("RootKey", "settings", { metadata: { uid: "another" } })]],
    ["an object is being deleted", [stored("RootKey", "settings", { metadata: terminating })]],
    ["an object has gone", []],
    ["an object has come", [settings, more]],
  ])("is served anew, and nothing is said: %s", async (_, objects) => {
    const { serve, report, calls, see } = leader(quiet);
    await serve();
    see(objects);
    expect(await report()).toEqual(anew);
    expect(calls.filter(isReport)).toEqual([]);
  });

  it("is reported where only a status, a label or the version has changed: as the objects are now", async () => {
    const { serve, report, calls, see } = leader(quiet);
    await serve();
    see([stored("RootKey", "settings", { metadata: { resourceVersion: "8" }, status: {} })]);
    expect(await report()).toBeUndefined();
    expect(calls.filter(isReport)).toHaveLength(2);
  });

  it("is not reported where Redis was emptied: its revision is one of before", async () => {
    const { serve, report, calls, beginAnew } = leader(quiet);
    await serve();
    beginAnew();
    expect(await report()).toEqual(anew);
    expect(calls.filter(isReport)).toEqual([]);
  });

  it("nor where that happened while it was served", async () => {
    const { serve, report, calls } = leader({ ...quiet, begunAnew: true });
    await serve();
    expect(await report()).toEqual(anew);
    expect(calls.filter(isReport)).toEqual([]);
  });

  it("nor where that happens while replicas are waited for", async () => {
    let beginAnew = (): void => undefined;
    const { serve, report, calls, ...world } = leader({ ...quiet, onAwait: () => beginAnew() });
    beginAnew = world.beginAnew;
    await serve();
    expect(await report()).toEqual(anew);
    expect(calls.filter(isReport)).toEqual([]);
  });
});

const emptyInventory: DataInventory = { policy: "Retain", projectUid: "p", entries: [] };
const purged: DataEntry = {
  ...{ what: "rootkey", name: "old", uid: "old", namespaceUid: "ns" },
  purgeFromRevision: 7,
};
const request: DeletionRequest = {
  ...{ text: "all@2020-01-01T00:00:00Z", until: 0, source: "Annotation of the Project" },
  project: { namespace: "default", name: "shop" },
};

describe("what goes is reported in the run that serves it", () => {
  it.each<readonly [string, World]>([
    ["an object has gone", { deleted: [stored("RootKey", "former")] }],
    ["an object is being deleted", { objects: [stored("RootKey", "settings", { metadata: terminating })] }],
    ["its namespace has gone", { namespaceUid: undefined } as unknown as World],
    ["stored data are to be purged", { recorded: { ...emptyInventory, entries: [purged] } }],
    [
      "sessions are to be purged",
      { recorded: { ...emptyInventory, deletedProjects: [{ uid: "former", purgeFromRevision: 7 }] } },
    ],
    ["a person asks for stored data to be deleted", { requests: [request] }],
  ])("%s", async (_, world) => {
    const { serve, calls } = leader({ ...quiet, ...world });
    expect((await serve())?.requeue).toBeUndefined();
    expect(calls.map(([what]) => what)).toContain("write");
  });
});

it.each<readonly [string, World]>([
  ["what was served", quiet],
  ["what goes", { ...quiet, deleted: [stored("RootKey", "former")] }],
])("the statuses of %s are written only until something is changed, which may be a revocation", async (_, world) => {
  const { handle, calls } = leader({ ...world, changed: true });
  await handle();
  expect(calls).toContainEqual(["write", [], "until it was changed"]);
});

describe("statuses that can't be written", () => {
  it("fail the key, which is served anew", async () => {
    const statusFailure = new ApiFailure(500, { message: "no" });
    const { serve, report, calls } = leader({ ...quiet, statusFailure });
    await serve();
    await expect(report()).rejects.toBe(statusFailure);
    expect(calls.filter(isReport)).toEqual([]);
  });

  it("because this process leads no more, are left to whoever leads next", async () => {
    const { serve, report } = leader({ ...quiet, statusFailure: new NotTheLeader("no") });
    await serve();
    expect(await report()).toBeUndefined();
  });
});

describe("a Project whose issuer is fetched for the first time", () => {
  const issuers = [{ name: "corp", issuer: { url: "https://login.example.org", audiences: ["shop"] } }];
  const shop = stored("Project", "shop", { spec: { authentication: { policy: "Enabled", issuers } } });
  const world = (issuer: KnownIssuer): World => ({ ...quiet, objects: [shop], issuer });

  it("is served without its keys, and says so", async () => {
    const { serve, report, publishedConfigs, calls } = leader(world({ state: "pending" }));
    expect(await serve()).toEqual({ requeue: "report" });
    expect(publishedConfigs.map(({ issuers }) => issuers.get("corp")?.keys)).toEqual([[]]);
    await report();
    expect(calls.filter(isReport)).toHaveLength(2);
  });
});
