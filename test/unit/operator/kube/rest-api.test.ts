import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ApiFailure, ApiUnreachable, type KubeApi, type WatchEvent } from "../../../../operator/kube/api.ts";
import { serverUrl } from "../../../../operator/kube/connect.ts";
import type { CallObserved, Credentials } from "../../../../operator/kube/http-transport.ts";
import { customTypes, leaseType, namespaceType, secretType } from "../../../../operator/kube/objects.ts";
import { fakeApiClient } from "../../../support/fake-api/fake-api-client.ts";
import { type FakeApiServer, startFakeApiServer } from "../../../support/fake-api/fake-api-server.ts";
import { eventually } from "../../../support/time/eventually.ts";

let server: FakeApiServer;
let api: KubeApi;
let observed: CallObserved[];

beforeEach(async () => {
  observed = [];
  server = await startFakeApiServer({ bookmarkMs: 20 });
  api = fakeApiClient(server, { observe: (call) => observed.push(call), limits: { callMs: 2_000 } });
});

afterEach(async () => {
  await api.close();
  await server.close();
});

const lease = (name: string, more: object = {}, n = 1) => ({
  metadata: { namespace: "a", name, ...more },
  spec: { n },
});

async function thrownBy(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe("verbs", () => {
  test("reach the place of an object, with and without group and namespace", async () => {
    await api.get(customTypes.Project, { namespace: "a", name: "shop" });
    await api.get(namespaceType, { namespace: "", name: "a b" });
    await api.list(secretType, { limit: 7, labelSelector: "a=b,c" });
    expect(server.requests.map(({ target }) => target)).toEqual([
      "/apis/jsonplane.io/v1alpha1/namespaces/a/projects/shop",
      "/api/v1/namespaces/a%20b",
      "/api/v1/secrets?limit=7&labelSelector=a%3Db%2Cc",
    ]);
  });

  test("create, replace with the version, apply by force as one manager, and delete by UID", async () => {
    const made = await api.create(leaseType, lease("one"));
    const replaced = await api.replace(leaseType, lease("one", { resourceVersion: made.metadata.resourceVersion }, 2));
    expect(replaced["spec"]).toEqual({ n: 2 });
    expect(
      await thrownBy(api.replace(leaseType, lease("one", { resourceVersion: made.metadata.resourceVersion }, 3))),
    ).toMatchObject({ status: 409 });
    const { uid } = made.metadata;
    await api.apply(leaseType, { ...lease("one", { uid }), status: { ok: true } }, { subresource: "status" });
    expect(server.requests.at(-1)?.target).toMatch(/\/one\/status\?fieldManager=jsonplane-operator&force=true$/);
    const conflict = await thrownBy(api.remove(leaseType, { namespace: "a", name: "one" }, { uid: "another" }));
    expect(conflict).toMatchObject({ status: 409, reason: "Conflict" });
    expect(await api.remove(leaseType, { namespace: "a", name: "one" }, { uid })).toBe(true);
    expect(await api.remove(leaseType, { namespace: "a", name: "one" }, { uid })).toBe(false);
    expect(await api.get(leaseType, { namespace: "a", name: "one" })).toBe(undefined);
  });

  test("are counted with their outcome, as rights name them", async () => {
    await api.create(leaseType, lease("one"));
    await api.get(leaseType, { namespace: "a", name: "two" });
    await thrownBy(api.apply(leaseType, lease("two", { uid: "x" }), { subresource: "status" }));
    await server.close();
    await thrownBy(api.list(secretType, { limit: 1 }));
    expect(observed.map(({ verb, resource, code }) => `${verb} ${resource} ${code}`)).toEqual([
      "create leases 201",
      "get leases 404",
      "patch leases/status 404",
      "list secrets <error>",
    ]);
    expect(observed[0]).toMatchObject({ method: "POST", group: "coordination.k8s.io", host: new URL(server.url).host });
  });
});

describe("what arrives", () => {
  test("has neither managedFields nor kubectl's copy of itself, in answers, lists and watches", async () => {
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{}", kept: "yes" };
    server.objects.create("/secrets", { metadata: { namespace: "a", name: "one", annotations } });
    expect(server.objects.get("/secrets", "a", "one")?.metadata["managedFields"]).toBeDefined();
    const [listed] = (await api.list(secretType, { limit: 9 })).items;
    const got = await api.get(secretType, { namespace: "a", name: "one" });
    const [watched] = await eventsFrom(1_000, 1);
    for (const object of [listed, got, watched?.type === "ADDED" ? watched.object : undefined]) {
      expect(object?.metadata).toMatchObject({ name: "one", annotations: { kept: "yes" } });
      expect(object?.metadata).not.toHaveProperty("managedFields");
      expect(object?.metadata.annotations).toEqual({ kept: "yes" });
    }
  });

  test("is metadata alone where only they are asked for", async () => {
    server.objects.create("/secrets", { metadata: { namespace: "a", name: "one" }, data: { key: "secret" } });
    const { items } = await api.list(secretType, { limit: 9, metadataOnly: true });
    expect(items).toHaveLength(1);
    expect(items[0]).not.toHaveProperty("data");
    const [event] = await eventsFrom(1_000, 1, true);
    expect(JSON.stringify(event)).not.toContain("secret");
    expect(server.requests.map(({ accept }) => accept)).toEqual([
      "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
      "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
    ]);
  });

  test("comes page by page, to the last", async () => {
    for (const name of ["one", "two", "three"])
      server.objects.create("/secrets", { metadata: { namespace: "a", name } });
    const first = await api.list(secretType, { limit: 2 });
    expect(first.items).toHaveLength(2);
    const last = await api.list(secretType, { limit: 2, continue: first.continue ?? "" });
    expect(last.items).toHaveLength(1);
    expect(last).not.toHaveProperty("continue");
  });

  async function eventsFrom(version: number, count: number, metadataOnly = false) {
    const events: WatchEvent[] = [];
    const request = { resourceVersion: String(version), timeoutSeconds: 60, metadataOnly };
    for await (const event of api.watch(secretType, request, {})) {
      events.push(event);
      if (events.length === count) break;
    }
    return events;
  }
});

describe("failures", () => {
  test("carry status, reason, the server's sentence and when to come again", async () => {
    server.setFaults(() => ({ kind: "status", code: 429, reason: "TooManyRequests", retryAfterSeconds: 3 }));
    const failure = await thrownBy(api.list(leaseType, { limit: 1 }));
    expect(failure).toBeInstanceOf(ApiFailure);
    expect(failure).toMatchObject({
      status: 429,
      reason: "TooManyRequests",
      message: "TooManyRequests, says the fault plan",
      retryAfterSeconds: 3,
    });
  });

  test("about Secrets keep the server's sentence back: it may quote what was sent", async () => {
    server.setFaults(() => ({ kind: "status", code: 422, reason: "Invalid value: hunter2" }));
    const failure = await thrownBy(api.create(secretType, lease("one")));
    expect(failure).toMatchObject({ status: 422 });
    server.setFaults(({ verb }) => (verb === "watch" ? { kind: "cutStream", afterLines: 0, how: "error" } : undefined));
    expect((await thrownBy(watchSecrets())) as Error).toMatchObject({
      status: 500,
      message: "secrets: the API server answered 500 InternalError",
    });
  });

  test("of the connection say that nobody knows, and a cut write may have happened", async () => {
    server.setFaults(() => ({ kind: "resetAfter" }));
    expect(await thrownBy(api.create(leaseType, lease("one")))).toBeInstanceOf(ApiUnreachable);
    expect(server.objects.get("coordination.k8s.io/leases", "a", "one")).toBeDefined();
  });

  test("end a call that nobody answers, at its deadline or when its caller gives up", async () => {
    server.setFaults(() => ({ kind: "hang" }));
    const name = { namespace: "a", name: "one" };
    for (const timeoutMs of [20, 100 / 3]) {
      expect(await thrownBy(api.get(leaseType, name, { timeoutMs }))).toBeInstanceOf(ApiUnreachable);
    }
    const caller = new AbortController();
    const reason = new Error("given up");
    const call = thrownBy(api.get(leaseType, name, { signal: caller.signal }));
    caller.abort(reason);
    expect(await call).toBe(reason);
    await eventually(() => expect(server.open()).toBe(0));
  });

  test("end a call that still waits for a connection at its deadline, too", async () => {
    const narrow = fakeApiClient(server, { limits: { connections: 1 } });
    server.setFaults(() => ({ kind: "hang" }));
    const name = { namespace: "a", name: "one" };
    let ended = false;
    const first = thrownBy(narrow.get(leaseType, name)).finally(() => {
      ended = true;
    });
    await eventually(() => expect(server.open()).toBe(1));
    expect(await thrownBy(narrow.get(leaseType, name, { timeoutMs: 20 }))).toBeInstanceOf(ApiUnreachable);
    expect(server.requests).toHaveLength(1);
    expect(ended).toBe(false);
    await narrow.close();
    expect(await first).toBeInstanceOf(ApiUnreachable);
  });

  test("end a watch whose stream is cut within a line", async () => {
    server.setFaults(() => ({ kind: "cutStream", afterLines: 0, how: "truncated" }));
    expect(await thrownBy(watchSecrets())).toBeInstanceOf(ApiUnreachable);
  });

  async function watchSecrets(): Promise<void> {
    for await (const _ of api.watch(secretType, { resourceVersion: "1000", timeoutSeconds: 60 }, {}));
  }
});

describe("connections", () => {
  test("are sixteen at most for two hundred calls at once, and are kept for the next two hundred", async () => {
    const calls = () => Array.from({ length: 200 }, () => api.get(leaseType, { namespace: "a", name: "one" }));
    await Promise.all(calls());
    expect(server.connections()).toBeLessThanOrEqual(16);
    const before = server.connections();
    await Promise.all(calls());
    expect(server.connections()).toBe(before);
  });

  test("end with a watch that is left, and all with the client", async () => {
    const request = { resourceVersion: "1000", timeoutSeconds: 60 };
    for await (const _ of api.watch(secretType, request, {})) break;
    await eventually(() => expect(server.open()).toBe(0));
    const going = thrownBy(
      (async () => {
        for await (const _ of api.watch(secretType, request, {}));
      })(),
    );
    await eventually(() => expect(server.open()).toBe(1));
    await api.close();
    expect(await going).toBeInstanceOf(ApiUnreachable);
    expect(await thrownBy(api.list(leaseType, { limit: 1 }))).toBeInstanceOf(ApiUnreachable);
    await eventually(() => expect(server.open()).toBe(0));
  });
});

describe("refused credentials", () => {
  function tokens(...given: readonly string[]) {
    const left = [...given];
    let token = left.shift();
    const credentials = async (): Promise<Credentials> => ({
      server: serverUrl(server.url),
      headers: { authorization: `Bearer ${token}` },
      tls: {},
    });
    return {
      namespace: "default",
      current: credentials,
      forget() {
        token = left.shift() ?? token;
      },
    };
  }

  beforeEach(() => {
    server.setFaults(({ authorization }) =>
      authorization === "Bearer good" ? undefined : { kind: "status", code: 401, reason: "Unauthorized" },
    );
  });

  test("fail a call, and the next one has new ones", async () => {
    const client = fakeApiClient(server, { source: tokens("old", "good") });
    expect(await thrownBy(client.list(leaseType, { limit: 1 }))).toMatchObject({ status: 401 });
    expect((await client.list(leaseType, { limit: 1 })).items).toEqual([]);
    await client.close();
  });
});
