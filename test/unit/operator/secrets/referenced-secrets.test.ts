// Secrets that users name for their passwords: a Project that goes is not served on because one of
// them can't be read.

import { createSecretKey } from "node:crypto";
import { expect, it } from "vitest";
import { ApiFailure, type KubeApi, type KubeObject } from "../../../../operator/kube/api.ts";
import type { CustomResource } from "../../../../operator/model/objects.ts";
import { createSecretStore } from "../../../../operator/secrets/secret-store.ts";
import { ObjectCache } from "../../../../operator/watch/object-cache.ts";
import { projectObjects, stored, terminating } from "../../../support/kubernetes/stored-crs.ts";

const failure = new ApiFailure(500, { message: "no" });
const ann = stored("ProjectUser", "ann", { spec: { passwordSecretRef: { name: "given", key: "password" } } });

function cacheOf(...items: readonly KubeObject[]): ObjectCache {
  const sink = { upserted: () => undefined, removed: () => undefined };
  const cache = new ObjectCache({ sink, metadataOnly: true, onSinkFailure: () => undefined });
  cache.takeList({ items, resourceVersion: "1", writeSequence: 0 });
  return cache;
}

function prepare(...projects: readonly CustomResource[]) {
  const metadata = { namespace: "default", name: "given", uid: "given", resourceVersion: "1" };
  const store = createSecretStore({
    api: { get: () => Promise.reject(failure) } as Partial<KubeApi> as KubeApi,
    own: cacheOf(),
    foreign: cacheOf({ metadata }),
    hmacKey: () => hmacKey,
    adopt: false,
    monotonic: () => 0,
  });
  return store.prepare(projectObjects("shop", ...projects, ann));
}

const hmacKey = createSecretKey(Buffer.alloc(32));
it("are read for a Project that is there", async () => {
  await expect(prepare(stored("Project", "shop"))).rejects.toBe(failure);
});

it("are not needed for one that has gone, or is on its way out: it is withdrawn without them", async () => {
  await expect(prepare()).resolves.toMatchObject({});
  await expect(prepare(stored("Project", "shop", { metadata: terminating }))).resolves.toMatchObject({});
});
