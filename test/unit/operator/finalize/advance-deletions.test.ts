// Finalizers of objects: of one whose deletionPolicy its user changes again and again, where what this operator took away itself is no
// repair, and of those without a Project that another installation has set.

import { beforeEach, expect, it } from "vitest";
import { type AdvanceDeletionsDeps, advanceDeletions } from "../../../../operator/finalize/advance-deletions.ts";
import { ApiFailure, type KubeApi, type KubeObject } from "../../../../operator/kube/api.ts";
import { createRepairs, type Repairs } from "../../../../operator/kube/repairs.ts";
import { finalizer } from "../../../../operator/model/finalizer.ts";
import { type Installation, installationText } from "../../../../operator/model/installation.ts";
import type { OpenRedis } from "../../../../operator/publish/config-writer.ts";
import { projectObjects, stored, terminating } from "../../../support/kubernetes/stored-crs.ts";

const api = { apply: async (_: unknown, body: unknown) => body as KubeObject } as unknown as KubeApi;
let repairs: Repairs;
beforeEach(() => {
  repairs = createRepairs(() => 0);
});

const deps: Omit<AdvanceDeletionsDeps, "repairs"> = {
  api,
  mode: "cluster",
  className: undefined,
  adopt: false,
  sweep: { sweepSubject: async () => [] } as unknown as AdvanceDeletionsDeps["sweep"],
  secrets: { installation: () => undefined, rivalNamed: async () => undefined },
  applyOwnWrite: () => undefined,
  onPurged: () => undefined,
  onSwept: () => undefined,
  audit: { record: () => undefined },
};

async function unsetMs(deletionPolicy: "Delete" | "Retain", finalizers: readonly string[]): Promise<number> {
  const shop = stored("Project", "shop", { metadata: { finalizers }, spec: { deletionPolicy } });
  const objects = projectObjects("shop", shop);
  const deletions = { objects, isNamespaceGone: false, deleted: [], record: undefined, rival: undefined };
  return (await advanceDeletions(deletions, {} as OpenRedis, { ...deps, repairs })).finalizerRetryMs;
}

it("a deletionPolicy that is changed back and forth has its finalizer set at once each time", async () => {
  for (let time = 0; time < 10; time += 1) {
    expect(await unsetMs("Delete", [])).toBe(0);
    await unsetMs("Retain", [finalizer]);
  }
});

it("finalizers of many objects are set side by side, eight at most", async () => {
  const names = Array.from({ length: 20 }, (_, at) => `resource-${at}`);
  const spec = { deletionPolicy: "Delete" } as const;
  const objects = projectObjects("shop", ...names.map((name) => stored("ApiResource", name, { spec })));
  let underWay = 0;
  let most = 0;
  const apply = async (_: unknown, body: unknown): Promise<KubeObject> => {
    underWay += 1;
    most = Math.max(most, underWay);
    await Promise.resolve();
    underWay -= 1;
    return body as KubeObject;
  };
  const deletions = { objects, isNamespaceGone: false, deleted: [], record: undefined, rival: undefined };
  await advanceDeletions(deletions, {} as OpenRedis, { ...deps, api: { ...api, apply } as KubeApi, repairs });
  expect(most).toBe(8);
});

it("an object on its way out without its Project is left to the installation that set its finalizer, which is asked for once", async () => {
  const rival: Installation = { namespace: "elsewhere", ringSecretName: "jsonplane-keyring", id: "two" };
  const annotations = { "jsonplane.io/installation": installationText(rival) };
  const theirs = { finalizers: [finalizer], annotations };
  const spec = { deletionPolicy: "Delete" } as const;
  const going = ["books", "notes"].map((name) =>
    stored("ApiResource", name, {
      metadata: { ...theirs, uid: name, ...terminating },
      spec,
    }),
  );
  const staying = stored("ApiResource", "more", { metadata: { ...theirs, uid: "more" }, spec });
  const asked: string[] = [];
  const rivalNamed = async (name: string) => {
    asked.push(name);
    return rival;
  };
  const objects = projectObjects("shop", ...going, staying);
  const deletions = { objects, isNamespaceGone: false, deleted: [], record: undefined, rival: undefined };
  const { blockedBy } = await advanceDeletions(deletions, {} as OpenRedis, {
    ...deps,
    secrets: { ...deps.secrets, rivalNamed },
    repairs,
  });
  expect([...blockedBy]).toEqual([
    ["books", rival],
    ["notes", rival],
  ]);
  expect(asked).toEqual([installationText(rival)]);
});

it("of two that adopt, each takes the finalizer of an object without a Project once, and lets a deleted one go", async () => {
  const homes = ["one", "two"].map((name) => ({ namespace: name, ringSecretName: "jsonplane-keyring", id: name }));
  const [one = "", two = ""] = homes.map(installationText);
  const repairsOf = new Map([one, two].map((name) => [name, createRepairs(() => 0)]));
  let books = stored("ApiResource", "books", { spec: { deletionPolicy: "Delete" } });
  let writes = 0;
  const look = async (name: string) => {
    const deletions = { isNamespaceGone: false, deleted: [], record: undefined, rival: undefined };
    const rivalNamed = async (other: string) =>
      homes.find((home) => installationText(home) === other && other !== name);
    const apply = async (_: unknown, body: unknown) => {
      writes += 1;
      const { metadata } = body as KubeObject;
      books = { ...books, metadata: { ...books.metadata, annotations: {}, ...metadata } };
      return books as unknown as KubeObject;
    };
    return await advanceDeletions({ ...deletions, objects: projectObjects("shop", books) }, {} as OpenRedis, {
      ...deps,
      api: { apply } as unknown as KubeApi,
      adopt: true,
      secrets: { installation: () => name, rivalNamed },
      repairs: repairsOf.get(name) as Repairs,
    });
  };
  for (let time = 0; time < 5; time += 1)
    for (const name of [one, two]) expect((await look(name)).finalizerRetryMs).toBe(0);
  expect(writes).toBe(2);
  books = { ...books, metadata: { ...books.metadata, ...terminating } };
  const { blockedBy } = await look(one);
  expect([...blockedBy]).toEqual([]);
  expect(books.metadata.finalizers).toEqual([]);
});

it("a finalizer that something else takes away each time waits", async () => {
  for (let time = 0; time < 4; time += 1) expect(await unsetMs("Delete", [])).toBe(0);
  expect(await unsetMs("Delete", [])).toBeGreaterThan(0);
});

it("a finalizer that the API server refuses to drop keeps no other object from going; any other failure ends the pass", async () => {
  const metadata = { finalizers: [finalizer], ...terminating };
  const names = ["books", "films"];
  const going = names.map((name) => stored("ApiResource", name, { metadata: { ...metadata, uid: name } }));
  const attempt = (failure: ApiFailure) => {
    const apply = async (_: unknown, body: unknown) => {
      if ((body as KubeObject).metadata.name === "books") throw failure;
      return { ...(body as KubeObject), metadata: { ...(body as KubeObject).metadata, ...terminating } };
    };
    const objects = projectObjects("shop", stored("Project", "shop"), ...going);
    const deletions = { objects, isNamespaceGone: false, deleted: [], record: undefined, rival: undefined };
    const refusing = { apply } as unknown as KubeApi;
    return advanceDeletions(deletions, {} as OpenRedis, { ...deps, api: refusing, repairs });
  };
  const protectedByPolicy = new ApiFailure(422, { reason: "Invalid", message: "protected" });
  const { gone, finalizerRefusals } = await attempt(protectedByPolicy);
  expect([[...gone], finalizerRefusals]).toEqual([["films"], [protectedByPolicy]]);
  const busy = new ApiFailure(500, { message: "no" });
  await expect(attempt(busy)).rejects.toBe(busy);
});
