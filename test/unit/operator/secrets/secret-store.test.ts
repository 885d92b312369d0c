// Own Secrets over an API server in this process, and caches that are behind it.

import { createSecretKey } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { KubeApi, KubeObject } from "../../../../operator/kube/api.ts";
import { SecretContested } from "../../../../operator/kube/repairs.ts";
import { type Installation, installationText, parseInstallation } from "../../../../operator/model/installation.ts";
import type { CustomResource } from "../../../../operator/model/objects.ts";
import { installationAnnotation, ownerMarks, ownLabels } from "../../../../operator/model/secret-names.ts";
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
const name = "ci-key-hash";
const one: Installation = { namespace: "jsonplane-system", ringSecretName: "jsonplane-keyring", id: "one" };
const two: Installation = { ...one, namespace: "elsewhere", id: "two" };

const sealKey = createSecretKey(Buffer.alloc(32));
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

interface Made {
  readonly entry?: string;
  readonly installation?: Installation;
  readonly name?: string;
}

/** Made by jsonplane for this object. */
function made(owner: CustomResource, how: Made = {}): KubeObject {
  const { entry = "one", installation = one } = how;
  const mark = { ...ownerMarks(owner), [installationAnnotation]: installationText(installation) };
  const data = { record: Buffer.from(entry).toString("base64") };
  const metadata = {
    namespace: "default",
    name: how.name ?? name,
    labels: ownLabels(owner),
    annotations: mark,
  };
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
    keyRing: one,
    installation: () => (opened ? one : undefined),
    seesNamespace: () => false,
    sealKey: () => sealKey,
    adopt,
    monotonic: () => now,
  });
const of = (...objects: readonly CustomResource[]) => projectObjects("shop", ...objects);

async function found(...objects: readonly CustomResource[]): Promise<string | undefined> {
  const { find } = await newStore().prepare(of(...objects));
  const record = find(name)?.data.get("record");
  return record === undefined ? undefined : Buffer.from(record).toString();
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
    ["was made anew", () => void made(ci, { entry: "two" })],
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

describe("a Secret that another installation made", () => {
  const signed = async (installation: Installation, { adopt = false, signing = true } = {}) => {
    server.objects.create("/namespaces", { metadata: { name: "elsewhere" } });
    const secrets = [made(ci, { installation })];
    if (signing) secrets.push(made(shop, { installation, name: "shop-signing" }));
    cached(...secrets);
    const secretStore = newStore({ adopt });
    const { find, rival } = await secretStore.prepare(of(shop, ci));
    return { rival, heldBy: find(name)?.heldBy };
  };

  it("is left to it, and so is the Project whose own Secret it is, while its namespace is there", async () => {
    expect(await signed(two)).toEqual({ rival: two, heldBy: two });
    expect(asked().filter((verb) => verb !== "get")).toEqual([]);
  });

  it("is left to it also where its key ring is a copy of this one's", async () => {
    const copy = { ...two, id: one.id };
    expect(await signed(copy)).toEqual({ rival: copy, heldBy: copy });
  });

  it("is remembered for ten minutes after the last Secret of the Project is gone, then this one takes the Project up", async () => {
    server.objects.create("/namespaces", { metadata: { name: "elsewhere" } });
    cached(made(shop, { installation: two, name: "shop-signing" }));
    const secretStore = newStore();
    const rival = async () => [(await secretStore.prepare(of(shop))).rival, await secretStore.holderOf(of(shop))];
    expect(await rival()).toEqual([two, two]);
    cached();
    for (const minutes of [5, 9]) {
      now = minutes * 60_000;
      expect(await rival()).toEqual([two, two]);
    }
    now = 10 * 60_000;
    expect(await rival()).toEqual([undefined, undefined]);
  });

  it("is not needed for a Project on its way out, which gets none any more: its finalizer tells who deletes its data first", async () => {
    server.objects.create("/namespaces", { metadata: { name: "elsewhere" } });
    const annotations = { [installationAnnotation]: installationText(two) };
    const metadata = { finalizers: ["jsonplane.io/purge"], annotations, deletionTimestamp: "2026-11-21T12:00:00Z" };
    const secretStore = newStore();
    for (const going of [true, false]) {
      const { deletionTimestamp, ...stays } = metadata;
      const project = stored("Project", "shop", { metadata: going ? { ...stays, deletionTimestamp } : stays });
      expect((await secretStore.prepare(of(project))).rival).toEqual(going ? two : undefined);
      expect(await secretStore.holderOf(of(project))).toEqual(going ? two : undefined);
    }
  });

  it("is left to it with the Project, where somebody deleted the Project's own: this one makes no other keys for it", async () => {
    expect(await signed(two, { signing: false })).toEqual({ rival: two, heldBy: two });
  });

  it("is not left to it where the Project's own is this one's: nobody else looks after what is in it", async () => {
    server.objects.create("/namespaces", { metadata: { name: "elsewhere" } });
    cached(made(ci, { installation: two }), made(shop, { name: "shop-signing" }));
    const secretStore = newStore();
    const { find, rival } = await secretStore.prepare(of(shop, ci));
    expect({ rival, heldBy: find(name)?.heldBy }).toEqual({ rival: undefined, heldBy: undefined });
  });

  it("is left to it where this one may not ask whether its namespace is there", async () => {
    const isAbout = (collection: string, verb: string) => verb === "get" && collection === "/namespaces";
    server.setFaults(({ verb, collection }) =>
      isAbout(collection, verb) ? { kind: "status", code: 403, reason: "Forbidden" } : undefined,
    );
    expect(await signed(two)).toMatchObject({ rival: two });
  });

  it.each<readonly [string, Installation]>([
    ["whose namespace is gone", { ...two, namespace: "gone" }],
    ["whose ring was where this one's is now: it was lost", { ...one, id: "lost" }],
    ["of another class, of which the Project is no longer", { ...two, ringSecretName: "jsonplane-keyring-internal" }],
  ])("%s counts no more", async (_, installation) => {
    expect(await signed(installation)).toEqual({ rival: undefined, heldBy: undefined });
  });

  it.each<readonly [string, Installation, boolean]>([
    ["by a rival", two, true],
    ["with a copy of this one's ring", { ...two, id: one.id }, true],
    ["by one whose namespace is gone", { ...two, namespace: "gone" }, false],
    ["by one of another class", { ...two, ringSecretName: "jsonplane-keyring-internal" }, false],
    ["where this one is now", { ...one, id: "lost" }, false],
    ["by this one", one, false],
  ])("%s tells which other one looks after its Project, and nothing is written", async (_, maker, isElsewhere) => {
    server.objects.create("/namespaces", { metadata: { name: "elsewhere" } });
    const expected = isElsewhere ? maker : undefined;
    cached(made(ci, { installation: maker }));
    expect(await newStore().holderOf(of(shop, ci))).toEqual(expected);
    cached(made(shop, { installation: maker, name: "shop-signing" }));
    expect(await newStore({ adopt: true }).holderOf(of(shop, ci))).toEqual(expected);
    // Its Redis was away from the start.
    expect(await newStore({ opened: false }).holderOf(of(shop, ci))).toEqual(expected);
    expect(asked().filter((verb) => verb !== "get")).toEqual([]);
  });

  it("is not left to it by one that adopts", async () => {
    expect(await signed(two, { adopt: true })).toEqual({ rival: undefined, heldBy: undefined });
  });

  it("is taken over where nobody could have written what it says of its installation", async () => {
    for (const text of ["", "two", "a/b", "a/b/", "a/b/c/d"]) expect(parseInstallation(text)).toBeUndefined();
  });
});

describe("what something else does again and again is put right ever more seldom", () => {
  const mode = { namespace: "default", name, type: "Opaque", labels: {}, annotations: ownerMarks(ci) } as const;
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
