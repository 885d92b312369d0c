// Finalizers of the objects of one Project, which are set and removed side by side.

import { expect, it } from "vitest";
import { createDeletions, type DeletionsDeps } from "../../../../operator/deletion/advance-deletions.ts";
import { finalizer } from "../../../../operator/deletion/finalizers.ts";
import { ApiFailure, type KubeApi, type KubeObject } from "../../../../operator/kube/api.ts";
import type { OpenRedis } from "../../../../operator/publish/config-writer.ts";
import { projectObjects, stored, terminating } from "../../../support/kubernetes/stored-crs.ts";

const api = { apply: async (_: unknown, body: unknown) => body as KubeObject } as unknown as KubeApi;

const deps: DeletionsDeps = {
  api,
  mode: "cluster",
  sweep: { sweepSubject: async () => [] } as unknown as DeletionsDeps["sweep"],
  applyOwnWrite: () => undefined,
  metrics: { observeConfig: () => undefined },
  audit: { write: () => undefined },
};

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
  const deletions = { objects, isNamespaceGone: false, deleted: [], inventory: undefined };
  await createDeletions({ ...deps, api: { ...api, apply } as KubeApi }).advance(deletions, {} as OpenRedis);
  expect(most).toBe(8);
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
    const deletions = { objects, isNamespaceGone: false, deleted: [], inventory: undefined };
    const refusing = { apply } as unknown as KubeApi;
    return createDeletions({ ...deps, api: refusing }).advance(deletions, {} as OpenRedis);
  };
  const protectedByPolicy = new ApiFailure(422, { reason: "Invalid", message: "protected" });
  const { gone, finalizerRefusals } = await attempt(protectedByPolicy);
  expect([[...gone], finalizerRefusals]).toEqual([["films"], [protectedByPolicy]]);
  const busy = new ApiFailure(500, { message: "no" });
  await expect(attempt(busy)).rejects.toBe(busy);
});
