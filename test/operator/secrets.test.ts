// The operator's Secrets on a real API server: read, written and swept.

import { createSecretKey, randomBytes } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { kinds } from "../../core/manifests/object.ts";
import { ApiFailure, type KubeApi } from "../../operator/kube/api.ts";
import { createKubeApi } from "../../operator/kube/connect.ts";
import type { ProjectObjects } from "../../operator/model/project-objects.ts";
import type { AuditEntry } from "../../operator/observe/audit-log.ts";
import { type ProjectResolution, resolveProject } from "../../operator/resolve/project.ts";
import { SecretChanged } from "../../operator/secrets/secret-object.ts";
import { createSecretStore, NamespaceTerminating, type SecretStore } from "../../operator/secrets/secret-store.ts";
import { createSecretSweep, orphanAgeMs, type SecretSweep } from "../../operator/secrets/secret-sweep.ts";
import { createProjectIndex, customResource } from "../../operator/watch/project-index.ts";
import { fakeHash } from "../support/fleet/fake-hash.ts";
import { type OwnApiServer, startApiServer } from "../support/kubernetes/api-server/api-server.ts";
import { apiObject } from "../support/kubernetes/api-server/api-server-call.ts";
import { objectsOf } from "../support/kubernetes/api-server/api-server-objects.ts";
import { secretOf } from "../support/kubernetes/declared.ts";
import { type OperatorUser, operatorUserOf } from "./operator-users.ts";
import { type WatchedSecrets, watchSecrets } from "./watched-secrets.ts";

let server: OwnApiServer;
let operator: OperatorUser;
let api: KubeApi;
let watched: WatchedSecrets;
let secretStore: SecretStore;
let sweep: SecretSweep;
const hmacKey = createSecretKey(randomBytes(32));
let namespace: string;
let now: number;
let monotonic: number;
/** Names of objects whose deletion waits. */
let missing: ReadonlySet<string>;
let audited: AuditEntry[];
const audit = { write: (entry: AuditEntry) => void audited.push(entry) };

beforeAll(async () => {
  // Of its own: what is swept is looked for in the whole cluster.
  server = await startApiServer({ audit: true });
  operator = await operatorUserOf(server, "operator-of-secrets");
  const connected = await createKubeApi({
    kubeconfig: await server.kubeconfig(operator),
    environment: {},
    observe: () => undefined,
    monotonic: () => performance.now(),
  });
  api = connected.api;
  watched = await watchSecrets(api);
});
afterAll(async () => {
  await watched?.stop();
  await api?.close();
  await server?.stop();
});

beforeEach(async () => {
  namespace = await server.namespace();
  secretStore = createSecretStore({
    api,
    own: watched.own,
    foreign: watched.foreign,
    hmacKey: () => hmacKey,
    adopt: false,
    monotonic: () => 0,
  });
  now = Date.now();
  monotonic = 0;
  audited = [];
  missing = new Set();
  sweep = sweepThrough(api);
});

function sweepThrough(asked: KubeApi): SecretSweep {
  return createSecretSweep({
    api: asked,
    own: watched.own,
    foreign: watched.foreign,
    objects: watched.objects,
    definitions: { stands: async (kind) => !missing.has(kind) },
    now: () => now,
    monotonic: () => monotonic,
    audit,
  });
}

const manifests = `
apiVersion: jsonplane.io/v1alpha1
kind: Project
metadata: { name: shop }
---
apiVersion: jsonplane.io/v1alpha1
kind: ProjectUser
metadata: { name: ada }
spec: { projectRef: { name: shop } }
---
apiVersion: jsonplane.io/v1alpha1
kind: ApiKey
metadata: { name: ci }
spec: { projectRef: { name: shop } }
`;

async function objects(): Promise<ProjectObjects> {
  await watched.caughtUp();
  const index = createProjectIndex();
  for (const kind of kinds) for (const object of watched.objects[kind].all()) index.put(customResource(kind, object));
  return index.objectsOf({ namespace, name: "shop" });
}

async function resolve(): Promise<ProjectResolution> {
  const found = await objects();
  const { find, ...trust } = await secretStore.prepare(found);
  return await resolveProject(found, undefined, {
    findSecret: find,
    ...trust,
    random: randomBytes,
    now,
    hashPassword: async (password) => fakeHash(password),
    baseUrl: `http://localhost/${namespace}/shop`,
    ringAcknowledged: false,
  });
}

async function reconcile(): Promise<ProjectResolution> {
  const resolution = await resolve();
  for (const write of resolution.writes) await secretStore.write(write);
  return resolution;
}

const here = () => objectsOf(server, namespace);
const secretNames = () => here().names("Secret");

async function entry(secret: string, name: string): Promise<string> {
  const { data } = await here().get("Secret", secret);
  return Buffer.from(data?.[name] ?? "", "base64").toString();
}

const setEntry = (secret: string, name: string, text: string) =>
  here().patch("Secret", secret, { stringData: { [name]: text } });

/** How often the operator asked for that Secret by name. */
async function reads(secret: string): Promise<number> {
  const asked = await server.requests(operator);
  return asked.filter((each) => each.verb === "get" && each.namespace === namespace && each.name === secret).length;
}

const made = ["ada-password", "ada-user-hash", "ci-api-key", "shop-signing"];

describe("Secrets of a Project", () => {
  test("are made once, and a second look writes nothing", async () => {
    await server.apply(manifests, { namespace });
    expect((await reconcile()).writes).toHaveLength(4);
    expect(await secretNames()).toEqual(made);
    expect((await here().get("Secret", "ada-password")).type).toBe("kubernetes.io/basic-auth");
    expect(await entry("ci-api-key", "apiKey")).toMatch(/^jp_/);
    expect((await reconcile()).writes).toEqual([]);
  });

  test("are seen by the next look although no watch has told of them yet", async () => {
    await server.apply(manifests, { namespace });
    const found = await objects();
    await reconcile();
    const { find } = await secretStore.prepare(found);
    for (const name of made) expect(find(name)).toBeDefined();
  });

  test("keep what others put on them when they are rotated", async () => {
    await server.apply(manifests, { namespace });
    await reconcile();
    const before = await entry("ci-api-key", "apiKey");
    const metadata = { labels: { "example.org/team": "shop" }, annotations: { "example.org/note": "hello" } };
    await here().patch("Secret", "ci-api-key", { metadata });
    await setEntry("ci-api-key", "extra", "mine");
    await here().patch("ApiKey", "ci", { spec: { rotation: { id: "b" } } });
    expect((await reconcile()).writes.map(({ mode }) => mode)).toEqual(["replace"]);
    expect(await entry("ci-api-key", "apiKey")).not.toBe(before);
    expect(await entry("ci-api-key", "extra")).toBe("mine");
    expect((await here().get("Secret", "ci-api-key")).metadata).toMatchObject({
      labels: { "example.org/team": "shop", "jsonplane.io/kind": "ApiKey" },
      annotations: { "example.org/note": "hello", "jsonplane.io/namespace": namespace },
    });
  });

  test("are not written over when they changed since they were read, nor when they were made meanwhile", async () => {
    await server.apply(manifests, { namespace });
    const first = await resolve();
    await here().create(secretOf("ci-api-key", { apiKey: "mine" }));
    const writes: unknown[] = [];
    for (const write of first.writes) await secretStore.write(write).catch((error: unknown) => writes.push(error));
    expect(writes).toEqual([expect.any(SecretChanged)]);
    expect(await entry("ci-api-key", "apiKey")).toBe("mine");

    await setEntry("ada-password", "username", "eve");
    const second = await resolve();
    await setEntry("ada-password", "password", "of her own");
    const [repair] = second.writes.filter(({ name }) => name === "ada-password");
    if (repair === undefined) throw new Error("Nothing to put right");
    await expect(secretStore.write(repair)).rejects.toThrow(SecretChanged);
    await reconcile();
    expect(await entry("ada-password", "password")).toBe("of her own");
    expect(await entry("ada-password", "username")).toBe("ada");
  });

  test("that stand on our names and are foreign are refused and never read", async () => {
    await here().create(secretOf("ci-api-key", { apiKey: "mine" }));
    await server.apply(manifests, { namespace });
    const { credentials } = await reconcile();
    expect(credentials.keys.get("ci")).toMatchObject({ ok: false, refusal: { reason: "SecretConflict" } });
    expect(await reads("ci-api-key")).toBe(0);
  });

  test("cannot be made in a namespace that is on its way out", async () => {
    await server.apply(manifests, { namespace });
    const { writes } = await resolve();
    await apiObject(server, `/api/v1/namespaces/${namespace}`, { method: "DELETE" });
    const [write] = writes;
    if (write === undefined) throw new Error("Nothing to write");
    await expect(secretStore.write(write)).rejects.toThrow(NamespaceTerminating);
  });
});

test("a password from a Secret of the user's own is read once for each of its versions", async () => {
  await here().create(secretOf("given", { password: "one" }));
  await server.apply(manifests, { namespace });
  await here().patch("ProjectUser", "ada", { spec: { passwordSecretRef: { name: "given" } } });
  const hashNow = async (): Promise<unknown> => {
    const { credentials } = await reconcile();
    const user = credentials.users.get("ada");
    return user?.ok === true ? user.value.passwordHash : user;
  };
  for (let look = 0; look < 3; look += 1) expect(await hashNow()).toBe(fakeHash("one"));
  expect(await reads("given")).toBe(1);
  await setEntry("given", "password", "two");
  for (let look = 0; look < 3; look += 1) expect(await hashNow()).toBe(fakeHash("two"));
  expect(await reads("given")).toBe(2);
  await here().remove("Secret", "given");
  expect(await hashNow()).toMatchObject({ refusal: { reason: "SecretNotFound" } });
});

describe("Secrets of objects that are gone", () => {
  async function prepared() {
    await server.apply(manifests, { namespace });
    await reconcile();
    const [key] = (await objects()).keys;
    if (key === undefined) throw new Error("There is no ApiKey");
    return key;
  }

  /** Two sweeps, an hour apart. */
  async function sweepTwice(): Promise<void> {
    await watched.caughtUp();
    now = Date.now() + 2 * orphanAgeMs;
    await sweep.sweepOrphans();
    monotonic = orphanAgeMs;
    await sweep.sweepOrphans();
  }

  test("go at once when the object's end was seen, and only then", async () => {
    const key = await prepared();
    expect(await sweep.sweepSubject(key)).toEqual([]);
    await here().remove("ApiKey", "ci");
    expect(await sweep.sweepSubject(key)).toEqual(["ci-api-key"]);
    expect(await secretNames()).toEqual(["ada-password", "ada-user-hash", "shop-signing"]);
    expect(await sweep.sweepSubject(key)).toEqual([]);
  });

  test("go at once although somebody took the label off that they are managed by jsonplane: a later object would take them over", async () => {
    const key = await prepared();
    for (const name of ["ci-api-key"]) {
      await here().patch("Secret", name, { metadata: { labels: { "app.kubernetes.io/managed-by": "others" } } });
    }
    await here().remove("ApiKey", "ci");
    await watched.caughtUp();
    expect(await sweep.sweepSubject(key)).toEqual(["ci-api-key"]);
    expect(await secretNames()).toEqual(["ada-password", "ada-user-hash", "shop-signing"]);
  });

  test("go although an object of that name stands in its place, and not what was made for that one", async () => {
    const key = await prepared();
    await here().remove("ApiKey", "ci");
    await server.apply(manifests, { namespace });
    expect(await sweep.sweepSubject(key)).toEqual(["ci-api-key"]);
    await reconcile();
    expect(await sweep.sweepSubject(key)).toEqual([]);
    expect(await secretNames()).toEqual(made);
  });

  test("go after an hour of being alone when nobody saw the end, and not as long as a restore may take", async () => {
    await prepared();
    await here().remove("ApiKey", "ci");
    await watched.caughtUp();
    now = Date.now() + 2 * orphanAgeMs;
    expect(await sweep.sweepOrphans()).toBe(0);
    monotonic = orphanAgeMs - 1;
    expect(await sweep.sweepOrphans()).toBe(0);
    monotonic = orphanAgeMs;
    now = Date.now();
    expect(await sweep.sweepOrphans()).toBe(0);
    now = Date.now() + 2 * orphanAgeMs;
    expect(await sweep.sweepOrphans()).toBe(1);
    const ofKey = { kind: "ApiKey", namespace, name: "ci", uid: expect.any(String), why: "Orphaned" };
    expect(audited).toEqual([{ action: "secret_deleted", facts: { ...ofKey, secret: "ci-api-key" } }]);
    expect(await secretNames()).toEqual(["ada-password", "ada-user-hash", "shop-signing"]);
  });

  test("stay while the object's deletion waits for the definition of its kind", async () => {
    await prepared();
    missing = new Set(["ApiKey"]);
    await here().remove("ApiKey", "ci");
    await sweepTwice();
    expect(await secretNames()).toEqual(made);
  });

  test("begin their hour anew when the object came back meanwhile", async () => {
    await prepared();
    now = Date.now() + 2 * orphanAgeMs;
    await here().remove("ApiKey", "ci");
    await watched.caughtUp();
    await sweep.sweepOrphans();
    await server.apply(manifests, { namespace });
    await watched.caughtUp();
    monotonic = orphanAgeMs;
    await sweep.sweepOrphans();
    await here().remove("ApiKey", "ci");
    await watched.caughtUp();
    monotonic = orphanAgeMs + 1;
    expect(await sweep.sweepOrphans()).toBe(0);
    expect(await secretNames()).toEqual(made);
  });

  test("are looked for in every namespace that lets itself be asked", async () => {
    await prepared();
    const refusing = namespace;
    namespace = await server.namespace();
    await prepared();
    const forbidden = new ApiFailure(403, { reason: "Forbidden", message: "no right" });
    const get: KubeApi["get"] = async (type, name) => {
      if (name.namespace === refusing) throw forbidden;
      return await api.get(type, name);
    };
    sweep = sweepThrough({ ...api, get });
    for (const each of [refusing, namespace]) await objectsOf(server, each).remove("ApiKey", "ci");
    await sweepTwice();
    expect(await secretNames()).toEqual(["ada-password", "ada-user-hash", "shop-signing"]);
    namespace = refusing;
    expect(await secretNames()).toEqual(made);
  });

  test("are left alone where they are copies in another namespace, or belong to no object at all", async () => {
    await prepared();
    const elsewhere = await server.namespace();
    const copy = await here().get("Secret", "ci-api-key");
    const { labels, annotations } = copy.metadata;
    const metadata = { name: "ci-api-key", namespace: elsewhere, labels, annotations };
    const fleet = { name: "ring", namespace: elsewhere, labels: { "app.kubernetes.io/managed-by": "jsonplane" } };
    for (const each of [metadata, fleet]) await server.apply(JSON.stringify({ ...copy, metadata: each }));
    await sweepTwice();
    expect(await secretNames()).toEqual(made);
    expect(await objectsOf(server, elsewhere).names("Secret")).toEqual(["ci-api-key", "ring"]);
  });
});
