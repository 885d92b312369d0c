// Own Secrets over an API server in this process, and caches that are behind it: whose a Secret is, is known before it is used.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { KubeApi, KubeObject } from "../../../../operator/kube/api.ts";
import { secretType } from "../../../../operator/kube/resource-types.ts";
import type { ApiKey, CustomResource } from "../../../../operator/objects.ts";
import { ownerMarks, ownLabels, projectAnnotation } from "../../../../operator/secret-names.ts";
import { createSecretBook, SecretChanged } from "../../../../operator/secrets/secret-book.ts";
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

let server: FakeApiServer;
let api: KubeApi;
let own: ObjectCache;
let foreign: ObjectCache;

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
});
afterEach(async () => {
  await api.close();
  await server.close();
});

/** Made by jsonplane for this ApiKey; `marked` = by a version that says whose it is. */
function made(owner: ApiKey, { marked = true, entry = "one" } = {}): KubeObject {
  const annotations = marked ? ownerMarks(owner) : {};
  const data = { record: Buffer.from(entry).toString("base64") };
  const metadata = { namespace: "default", name, labels: ownLabels(owner), annotations };
  return server.objects.create(collection, { metadata, data }) as unknown as KubeObject;
}

/** The caches have it; the server may have something else by now. */
function cached(secret: KubeObject): KubeObject {
  own.takeList({ items: [secret], resourceVersion: secret.metadata.resourceVersion, mark: own.mark() });
  return secret;
}

function removed(): void {
  server.objects.remove(collection, "default", name);
}

const book = () => createSecretBook({ api, own, foreign });
const of = (...objects: readonly CustomResource[]) => projectObjects("shop", ...objects);

async function found(...objects: readonly CustomResource[]): Promise<string | undefined> {
  const find = await book().prepare(of(...objects));
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
    const books = book();
    expect((await books.prepare(of(shop, ci)))(name)?.data.size).toBe(1);
    await books.claim(of(shop, ci));
    expect(server.objects.get(collection, "default", name)?.metadata.annotations).toMatchObject(ownerMarks(ci));
    expect(asked()).toEqual(["get", "replace"]);
    expect(await found(shop, ci)).toBe("one");
    await books.claim(of(shop, ci));
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
    const secret = (await book().prepare(of(shop, ci)))(name);
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
    await expect(book().prepare(of(shop, ci))).rejects.toThrow(SecretChanged);
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
    await book().claim(of(...objects));
    expect(asked()).toEqual([]);
  });

  it("stays as it is where a policy refuses the change; where the server doesn't answer, that is said", async () => {
    cached(made(ci, { marked: false }));
    const refuse = (code: number) =>
      server.setFaults(({ verb }) => (verb === "replace" ? { kind: "status", code, reason: "No" } : undefined));
    refuse(403);
    await book().claim(of(shop, ci));
    refuse(500);
    await expect(book().claim(of(shop, ci))).rejects.toMatchObject({ status: 500 });
    expect((await api.get(secretType, { namespace: "default", name }))?.metadata.annotations).not.toHaveProperty([
      projectAnnotation,
    ]);
  });
});
