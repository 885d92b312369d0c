// Own Secrets over an API server in this process, and caches that are behind it.

import { createSecretKey } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { KubeApi, KubeObject } from "../../../../operator/kube/api.ts";
import { SecretContested } from "../../../../operator/kube/repairs.ts";
import type { CustomResource } from "../../../../operator/model/objects.ts";
import { ownerAnnotations, ownLabels } from "../../../../operator/model/secret-names.ts";
import { SecretChanged } from "../../../../operator/secrets/secret-object.ts";
import { createSecretStore } from "../../../../operator/secrets/secret-store.ts";
import { ObjectCache } from "../../../../operator/watch/object-cache.ts";
import { fakeApiClient } from "../../../support/fake-api/fake-api-client.ts";
import { type FakeApiServer, startFakeApiServer } from "../../../support/fake-api/fake-api-server.ts";
import { projectObjects, stored } from "../../../support/kubernetes/stored-crs.ts";

const collection = "/secrets";
const shop = stored("Project", "shop");
const ci = stored("ApiKey", "ci", { metadata: { uid: "later" } });
const earlier = stored("ApiKey", "ci", { metadata: { uid: "earlier" } });
const name = "ci-api-key";

const hmacKey = createSecretKey(Buffer.alloc(32));
let server: FakeApiServer;
let api: KubeApi;
let own: ObjectCache;
let foreign: ObjectCache;
let now: number;

const emptyCache = () =>
  new ObjectCache({
    sink: { upserted: () => undefined, removed: () => undefined },
    metadataOnly: false,
    onSinkFailure: (error) => expect(error).toBeUndefined(),
  });

beforeEach(async () => {
  server = await startFakeApiServer();
  api = fakeApiClient(server);
  [own, foreign] = [emptyCache(), emptyCache()];
  now = 0;
});
afterEach(async () => {
  await api.close();
  await server.close();
});

/** Made by jsonplane for this object. */
function made(owner: CustomResource, entry = "one"): KubeObject {
  const data = { apiKey: Buffer.from(entry).toString("base64") };
  const metadata = { namespace: "default", name, labels: ownLabels(owner), annotations: ownerAnnotations(owner) };
  return server.objects.create(collection, { metadata, data }) as unknown as KubeObject;
}

/** The caches have it; the server may have something else by now. */
function cached(...items: readonly KubeObject[]): void {
  const resourceVersion = items.at(-1)?.metadata.resourceVersion ?? "1";
  own.takeList({ items, resourceVersion, writeSequence: own.writeSequence() });
}

function removed(): void {
  server.objects.remove(collection, "default", name);
}

const newStore = ({ adopt = false, opened = true } = {}) =>
  createSecretStore({
    api,
    own,
    foreign,
    hmacKey: () => (opened ? hmacKey : undefined),
    adopt,
    monotonic: () => now,
  });
const of = (...objects: readonly CustomResource[]) => projectObjects("shop", ...objects);

async function found(...objects: readonly CustomResource[]): Promise<string | undefined> {
  const { find } = await newStore().prepare(of(...objects));
  const apiKey = find(name)?.data.get("apiKey");
  return apiKey === undefined ? undefined : Buffer.from(apiKey).toString();
}

const asked = () => server.requests.map(({ verb }) => verb);

describe("a Secret that the cache shows", () => {
  it("is believed, and the server is asked nothing", async () => {
    cached(made(ci));
    removed();
    expect(await found(shop, ci)).toBe("one");
    expect(asked()).toEqual([]);
  });

  it.each<readonly [string, () => void]>([
    ["has gone", () => undefined],
    ["was made anew", () => void made(ci, "two")],
  ])("and that %s on the server is seen with the first write, which is decided again", async (_, happens) => {
    cached(made(earlier));
    const { resourceVersion = "" } = own.get("default", name)?.metadata ?? {};
    removed();
    happens();
    const write = { namespace: "default", name, type: "Opaque", labels: {}, annotations: {}, entries: {} } as const;
    const writing = newStore().write({ ...write, mode: "replace", resourceVersion });
    await expect(writing).rejects.toThrow(SecretChanged);
    const now = server.objects.get(collection, "default", name);
    expect(own.get("default", name)?.metadata.uid).toBe(now?.metadata.uid);
  });
});

describe("what a Project's Secrets are read with", () => {
  it("is the key that proves them, which is known once Redis was open", async () => {
    expect(await newStore().prepare(of(shop, ci))).toMatchObject({ hmacKey, restoresAll: false });
    await expect(newStore({ opened: false }).prepare(of(shop, ci))).rejects.toThrow("is not known yet");
  });

  it("allows that every one is used where a person lets the installation adopt", async () => {
    expect(await newStore({ adopt: true }).prepare(of(shop, ci))).toMatchObject({ hmacKey, restoresAll: true });
  });
});

describe("what something else does again and again is put right ever more seldom", () => {
  const mode = { namespace: "default", name, type: "Opaque", labels: {}, annotations: ownerAnnotations(ci) } as const;
  const present = () => server.objects.get(collection, "default", name)?.metadata.resourceVersion ?? "";
  const change = () => {
    const secret = server.objects.get(collection, "default", name) as KubeObject;
    server.objects.replace(collection, { ...secret, metadata: { ...secret.metadata, annotations: {} }, data: {} });
  };

  /** `write` comes through once and three times more. */
  async function contested(write: (time: number) => Promise<unknown>, undo: () => void): Promise<void> {
    for (let repairs = 0; repairs <= 3; repairs += 1) {
      await write(repairs);
      undo();
    }
    await expect(write(4)).rejects.toThrow(SecretContested);
  }

  it("where it deletes a Secret, whatever is made anew in it", async () => {
    const secretStore = newStore();
    await contested((time) => secretStore.write({ ...mode, mode: "create", entries: { ring: String(time) } }), removed);
    expect(asked()).toEqual(["create", "create", "create", "create"]);
  });

  it("where it changes one back", async () => {
    made(ci);
    const secretStore = newStore();
    const entries = { baseURL: "http://one.test" };
    await contested(() => secretStore.write({ ...mode, mode: "replace", resourceVersion: present(), entries }), change);
  });

  it("where it undoes a rotation, though each makes another key", async () => {
    made(ci);
    const secretStore = newStore();
    const write = (time: number) => {
      const entries = { apiKey: String(time) };
      return secretStore.write({
        ...mode,
        mode: "replace",
        resourceVersion: present(),
        entries,
        causeId: "the second key",
      });
    };
    await contested(write, change);
    await secretStore.write({
      ...mode,
      mode: "replace",
      resourceVersion: present(),
      entries: {},
      causeId: "the third key",
    });
  });
});
