// Statuses and finalizers as the API server takes them.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { applyFinalizer, finalizer } from "../../operator/deletion/finalizers.ts";
import type { KubeApi, KubeObject } from "../../operator/kube/api.ts";
import { createKubeApi } from "../../operator/kube/connect.ts";
import { customTypes } from "../../operator/kube/objects.ts";
import type { Project } from "../../operator/model/objects.ts";
import { applyStatus } from "../../operator/status/apply-status.ts";
import { statusOf } from "../../operator/status/object-status.ts";
import type { RolloutProgress } from "../../operator/status/outcomes.ts";
import { sharedApiServer } from "../support/fleet/shared-fleet.ts";
import type { TestApiServer } from "../support/kubernetes/api-server/api-server-access.ts";
import { objectsOf } from "../support/kubernetes/api-server/api-server-objects.ts";
import { kstatusOf } from "../support/kubernetes/kstatus.ts";

let server: TestApiServer;
let api: KubeApi;
let namespace: string;

beforeAll(async () => {
  server = await sharedApiServer();
  const connected = await createKubeApi({
    kubeconfig: await server.kubeconfig(),
    environment: {},
    observe: () => undefined,
    monotonic: () => performance.now(),
  });
  api = connected.api;
});
afterAll(async () => {
  await api.close();
});
beforeEach(async () => {
  namespace = await server.namespace();
  await apply();
});

const ours = "jsonplane-system/jsonplane-operator";
const here = () => objectsOf(server, namespace);

const apply = (metadata = "") =>
  server.apply(`{apiVersion: jsonplane.io/v1alpha1, kind: Project, metadata: {name: shop${metadata}}}`, { namespace });

async function shop(): Promise<Project> {
  const found = await api.get(customTypes.Project, { namespace, name: "shop" });
  return { ...found, kind: "Project" } as unknown as Project;
}

async function report(
  project: Project,
  progress: RolloutProgress,
  now = Date.now(),
  further: object = {},
): Promise<KubeObject | undefined> {
  const { name, uid } = project.metadata;
  const status = statusOf(project, {
    verdict: { kind: "Project", namespace, name, uid, accepted: true, notices: [] },
    progress,
    availability: "served",
    objects: { ref: { namespace, name }, project, resources: [], rootKeys: [], users: [], keys: [] },
    baseUrl: "http://localhost/x/shop",
    controller: ours,
    now,
  });
  return applyStatus(api, project, { ...status, ...further }, ours);
}

describe("a status", () => {
  test("is read by kstatus as it was meant, and by kubectl wait", async () => {
    expect(kstatusOf(await shop())).toBe("InProgress");
    await report(await shop(), { state: "waiting" });
    expect(kstatusOf(await shop())).toBe("InProgress");
    await report(await shop(), { state: "programmed" });
    const project = await shop();
    expect(kstatusOf(project)).toBe("Current");
    expect(project.status?.conditions?.map(({ type }) => type)).toEqual([
      "Accepted",
      "Programmed",
      "Ready",
      "Available",
    ]);
    await server.kubectl(["wait", "--for=condition=Ready", "project/shop", "-n", namespace, "--timeout=5s"]);
  });

  test("that is the same is not written again", async () => {
    const written = await report(await shop(), { state: "programmed" });
    expect(written?.metadata.resourceVersion).toBe((await shop()).metadata.resourceVersion);
    expect(await report(await shop(), { state: "programmed" }, Date.now() + 60_000)).toBeUndefined();
  });

  test.each([
    ["laterField", 1],
    ["laterList", [{ a: 1 }]],
  ])(
    "with a field that the definition does not declare is refused in words that say what to do: %s",
    async (field, value) => {
      const written = report(await shop(), { state: "programmed" }, Date.now(), { [field]: value });
      await expect(written).rejects.toThrow(`does not declare .status.${field}: apply the CRDs of this version`);
      expect((await shop()).status).toEqual({ observedGeneration: -1 });
    },
  );

  test("reaches an object that somebody labelled meanwhile", async () => {
    const before = await shop();
    await here().patch("Project", "shop", { metadata: { labels: { team: "books" } } });
    expect((await report(before, { state: "programmed" }))?.metadata.labels).toEqual({ team: "books" });
  });

  test("does not reach an object that another installation has taken meanwhile", async () => {
    const before = await shop();
    const theirs = "elsewhere/jsonplane-operator";
    await applyStatus(api, before, { observedGeneration: 1, conditions: [], controller: theirs }, theirs);
    const taken = await shop();
    expect(await report(before, { state: "programmed" })).toBeUndefined();
    expect(await shop()).toEqual(taken);
    expect(taken.status?.controller).toBe(theirs);
  });

  test("does not reach an object that was made anew", async () => {
    const former = await shop();
    await here().remove("Project", "shop");
    expect(await report(former, { state: "programmed" })).toBeUndefined();
    await apply();
    expect(await report(former, { state: "programmed" })).toBeUndefined();
    expect((await shop()).status).toEqual({ observedGeneration: -1 });
  });
});

describe("the finalizer", () => {
  test("is set and dropped beside those of others, and the spec stays the user's", async () => {
    await apply(", finalizers: [example.org/other]");
    expect(await applyFinalizer(api, await shop(), true)).toMatchObject({ outcome: "changed" });
    expect((await shop()).metadata.finalizers).toEqual(expect.arrayContaining([finalizer, "example.org/other"]));
    await apply(", finalizers: [example.org/other]");
    expect((await shop()).metadata.finalizers).toContain(finalizer);
    expect(await applyFinalizer(api, await shop(), false)).toMatchObject({ outcome: "changed" });
    expect((await shop()).metadata.finalizers).toEqual(["example.org/other"]);
    await apply();
    await here().remove("Project", "shop");
  });

  test("lets an object go that waited for nothing else", async () => {
    await applyFinalizer(api, await shop(), true);
    await here().remove("Project", "shop");
    expect(await applyFinalizer(api, await shop(), false)).toEqual({ outcome: "gone" });
    expect(await api.get(customTypes.Project, { namespace, name: "shop" })).toBeUndefined();
  });

  test("that came with a restored manifest lets its object go as well", async () => {
    await apply(`, finalizers: [${finalizer}]`);
    await here().remove("Project", "shop");
    expect(await applyFinalizer(api, await shop(), false)).toEqual({ outcome: "gone" });
    expect(await api.get(customTypes.Project, { namespace, name: "shop" })).toBeUndefined();
  });

  test("is not set on an object that is gone, or made anew", async () => {
    const former = await shop();
    await here().remove("Project", "shop");
    await expect(applyFinalizer(api, former, true)).rejects.toMatchObject({ status: 409 });
    await apply();
    await expect(applyFinalizer(api, former, true)).rejects.toMatchObject({ status: 409 });
    expect((await shop()).metadata.finalizers).toBeUndefined();
  });
});
