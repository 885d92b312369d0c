// Own Secrets over an API server in this process, and caches that are behind it: whose a Secret is, is known before it is used.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { KubeApi, KubeObject } from "../../../../operator/kube/api.ts";
import { SecretContested } from "../../../../operator/kube/repairs.ts";
import { secretType } from "../../../../operator/kube/resource-types.ts";
import { type Installation, installationText, parseInstallation } from "../../../../operator/model/installation.ts";
import type { ApiKey, CustomResource } from "../../../../operator/model/objects.ts";
import {
  installationAnnotation,
  ownerMarks,
  ownLabels,
  projectAnnotation,
} from "../../../../operator/model/secret-names.ts";
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
const elsewhere = stored("ApiKey", "ci", { spec: { projectRef: { name: "other" } } });
const name = "ci-key-hash";
const one: Installation = { namespace: "jsonplane-system", ringSecretName: "jsonplane-keyring", id: "one" };
const two: Installation = { ...one, namespace: "elsewhere", id: "two" };

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
  readonly marked?: boolean;
  readonly entry?: string;
  readonly installation?: Installation;
  readonly name?: string;
}

/** Made by jsonplane for this object; `marked` = by a version that says whose it is. */
function made(owner: CustomResource, how: Made = {}): KubeObject {
  const { marked = true, entry = "one", installation = one } = how;
  const mark = { ...ownerMarks(owner), [installationAnnotation]: installationText(installation) };
  const data = { record: Buffer.from(entry).toString("base64") };
  const metadata = {
    namespace: "default",
    name: how.name ?? name,
    labels: ownLabels(owner),
    annotations: marked ? mark : {},
  };
  return server.objects.create(collection, { metadata, data }) as unknown as KubeObject;
}

/** The caches have it; the server may have something else by now. */
function cached(...items: readonly KubeObject[]): void {
  const resourceVersion = items.at(-1)?.metadata.resourceVersion ?? "1";
  own.takeList({ items, resourceVersion, writeSequence: own.writeSequence() });
}

function madeBy(secret: { readonly metadata: object } | undefined): Installation | undefined {
  const { annotations } = (secret?.metadata ?? {}) as { readonly annotations?: Readonly<Record<string, string>> };
  return parseInstallation(annotations?.[installationAnnotation] ?? "");
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
  it("is believed where it says that it is this object's", async () => {
    cached(made(ci));
    removed();
    expect(await found(shop, ci)).toBe("one");
    expect(asked()).toEqual([]);
  });

  it.each<readonly [string, ApiKey, boolean]>([
    ["says that it is an earlier object's", earlier, true],
    ["doesn't say whose it is", ci, false],
  ])("and that %s is none where the server has none any more", async (_, owner, marked) => {
    cached(made(owner, { marked }));
    removed();
    expect(await found(shop, ci)).toBeUndefined();
    expect(asked()).toEqual(["get"]);
    expect(own.get("default", name)).toBeUndefined();
  });

  it.each<readonly [string, ApiKey, boolean]>([
    ["an earlier object's, as after a restore", earlier, true],
    ["nobody's, as of an earlier version", ci, false],
  ])("is taken where the server has it, though %s, and says whose it is from then on", async (_, owner, marked) => {
    cached(made(owner, { marked }));
    const secretStore = newStore();
    expect((await secretStore.prepare(of(shop, ci))).find(name)?.data.size).toBe(1);
    await secretStore.claim(of(shop, ci));
    expect(server.objects.get(collection, "default", name)?.metadata.annotations).toMatchObject(ownerMarks(ci));
    expect(asked()).toEqual(["get", "replace"]);
    expect(await found(shop, ci)).toBe("one");
    await secretStore.claim(of(shop, ci));
    expect(asked()).toEqual(["get", "replace"]);
  });

  it("is read as the server has it, where it was made anew since", async () => {
    cached(made(earlier));
    removed();
    made(ci, { entry: "two" });
    expect(await found(shop, ci)).toBe("two");
    expect(own.get("default", name)?.metadata.annotations).toMatchObject(ownerMarks(ci));
  });

  it("is foreign where somebody else has taken its name since", async () => {
    cached(made(earlier));
    removed();
    server.objects.create(collection, { metadata: { namespace: "default", name } });
    const secret = (await newStore().prepare(of(shop, ci))).find(name);
    expect(secret?.metadata.labels).toBeUndefined();
  });

  it("of an object of another Project goes: what lets into one never lets into the other", async () => {
    cached(made(elsewhere));
    expect(await found(shop, ci)).toBeUndefined();
    expect(server.objects.get(collection, "default", name)).toBeUndefined();
    expect(await found(shop, ci)).toBeUndefined();
    expect(asked()).toEqual(["get", "delete"]);
  });

  it("of an object of another Project is looked at anew where somebody changes it meanwhile", async () => {
    cached(made(elsewhere));
    server.setFaults(({ verb }) => (verb === "delete" ? { kind: "status", code: 409, reason: "Conflict" } : undefined));
    await expect(newStore().prepare(of(shop, ci))).rejects.toThrow(SecretChanged);
  });
});

describe("a Secret that doesn't say whose it is", () => {
  it.each<readonly [string, readonly CustomResource[]]>([
    ["no Project", [ci]],
    ["a suspended Project", [stored("Project", "shop", { spec: { suspend: true } }), ci]],
    [
      "a Project that goes",
      [stored("Project", "shop", { metadata: { deletionTimestamp: "2026-11-21T12:00:00Z" } }), ci],
    ],
  ])("is left as it is under %s", async (_, objects) => {
    cached(made(elsewhere));
    expect(await found(...objects)).toBe("one");
    await newStore().claim(of(...objects));
    expect(asked()).toEqual([]);
  });

  it("stays as it is where a policy refuses the change; where the server doesn't answer, that is said", async () => {
    cached(made(ci, { marked: false }));
    const refuse = (code: number) =>
      server.setFaults(({ verb }) => (verb === "replace" ? { kind: "status", code, reason: "No" } : undefined));
    refuse(403);
    await newStore().claim(of(shop, ci));
    refuse(500);
    await expect(newStore().claim(of(shop, ci))).rejects.toMatchObject({ status: 500 });
    expect((await api.get(secretType, { namespace: "default", name }))?.metadata.annotations).not.toHaveProperty([
      projectAnnotation,
    ]);
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
    if (rival === undefined) await secretStore.claim(of(shop, ci));
    return { rival, heldBy: find(name)?.heldBy, says: madeBy(server.objects.get(collection, "default", name)) };
  };

  it("is left to it, and so is the Project whose own Secret it is, while its namespace is there", async () => {
    expect(await signed(two)).toEqual({ rival: two, heldBy: two, says: two });
    expect(asked().filter((verb) => verb !== "get")).toEqual([]);
  });

  it("is left to it also where its key ring is a copy of this one's", async () => {
    const copy = { ...two, id: one.id };
    expect(await signed(copy)).toEqual({ rival: copy, heldBy: copy, says: copy });
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
    expect(await signed(two, { signing: false })).toEqual({ rival: two, heldBy: two, says: two });
  });

  it.each<readonly [string, ApiKey, boolean, Installation]>([
    ["is taken by one that adopts", ci, true, one],
    ["is left to it without that", ci, false, two],
    ["is left as it is where it is another object's", earlier, true, two],
  ])("under a suspended Project %s", async (_, owner, adopt, maker) => {
    server.objects.create("/namespaces", { metadata: { name: "elsewhere" } });
    cached(made(owner, { installation: two }));
    await newStore({ adopt }).claim(of(stored("Project", "shop", { spec: { suspend: true } }), ci));
    expect(madeBy(server.objects.get(collection, "default", name))).toEqual(maker);
  });

  it("is taken over where the Project's own is this one's: nobody else looks after what is in it", async () => {
    server.objects.create("/namespaces", { metadata: { name: "elsewhere" } });
    cached(made(ci, { installation: two }), made(shop, { name: "shop-signing" }));
    const secretStore = newStore();
    const { find, rival } = await secretStore.prepare(of(shop, ci));
    expect({ rival, heldBy: find(name)?.heldBy }).toEqual({ rival: undefined, heldBy: undefined });
    await secretStore.claim(of(shop, ci));
    expect(madeBy(server.objects.get(collection, "default", name))).toEqual(one);
  });

  it("before this one could make it its own: nothing of the Project is taken", async () => {
    cached(made(ci, { marked: false }), made(shop, { name: "shop-signing", marked: false }));
    const secretStore = newStore();
    await secretStore.prepare(of(shop, ci));
    const signing = server.objects.get(collection, "default", "shop-signing") as KubeObject;
    const theirs = { ...ownerMarks(shop), [installationAnnotation]: installationText(two) };
    server.objects.replace(collection, { ...signing, metadata: { ...signing.metadata, annotations: theirs } });
    await expect(secretStore.claim(of(shop, ci))).rejects.toThrow(SecretChanged);
    expect(madeBy(server.objects.get(collection, "default", name))).toBeUndefined();
  });

  it("is left to it where this one may not ask whether its namespace is there", async () => {
    const isAbout = (collection: string, verb: string) => verb === "get" && collection === "/namespaces";
    server.setFaults(({ verb, collection }) =>
      isAbout(collection, verb) ? { kind: "status", code: 403, reason: "Forbidden" } : undefined,
    );
    expect(await signed(two)).toMatchObject({ rival: two, says: two });
  });

  it.each<readonly [string, Installation]>([
    ["whose namespace is gone", { ...two, namespace: "gone" }],
    ["whose ring was where this one's is now: it was lost", { ...one, id: "lost" }],
    ["of another class, of which the Project is no longer", { ...two, ringSecretName: "jsonplane-keyring-internal" }],
  ])("%s is taken over, and says so", async (_, installation) => {
    expect(await signed(installation)).toEqual({ rival: undefined, heldBy: undefined, says: one });
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

  it("is taken over by one that adopts, and says so", async () => {
    expect(await signed(two, { adopt: true })).toEqual({ rival: undefined, heldBy: undefined, says: one });
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

  it("where it takes away whose a Secret is", async () => {
    const secretStore = newStore();
    const secret = made(ci, { marked: false });
    const claims = () => asked().filter((verb) => verb === "replace").length;
    for (let time = 0; time < 6; time += 1) {
      change();
      cached(server.objects.get(collection, "default", secret.metadata.name) as unknown as KubeObject);
      await secretStore.claim(of(shop, ci));
    }
    expect(claims()).toBe(4);
  });
});
