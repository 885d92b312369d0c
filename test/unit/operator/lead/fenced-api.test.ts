import { afterEach, beforeEach, expect, test } from "vitest";
import type { KubeApi } from "../../../../operator/kube/api.ts";
import { leaseType } from "../../../../operator/kube/objects.ts";
import { NotTheLeader } from "../../../../operator/lead/elector.ts";
import { fencedApi } from "../../../../operator/lead/fenced-api.ts";
import { fakeApiClient } from "../../../support/fake-api/fake-api-client.ts";
import { type FakeApiServer, startFakeApiServer } from "../../../support/fake-api/fake-api-server.ts";
import { eventually } from "../../../support/time/eventually.ts";

let server: FakeApiServer;
let api: KubeApi;
let held: boolean;
let ending: AbortController;
let fenced: KubeApi;

beforeEach(async () => {
  held = true;
  ending = new AbortController();
  server = await startFakeApiServer();
  api = fakeApiClient(server);
  fenced = fencedApi(api, {
    held: () => held,
    ended: ending.signal,
    confirm: async () => held,
    release: async () => undefined,
  });
});

afterEach(async () => {
  await api.close();
  await server.close();
});

const object = { metadata: { namespace: "a", name: "one", uid: "u", resourceVersion: "1" } };
const writes: readonly (readonly [string, (api: KubeApi, signal?: AbortSignal) => Promise<unknown>])[] = [
  ["create", (to, signal) => to.create(leaseType, object, signal && { signal })],
  ["replace", (to, signal) => to.replace(leaseType, object, signal && { signal })],
  ["apply", (to, signal) => to.apply(leaseType, object, { ...(signal && { signal }), subresource: "status" })],
  ["remove", (to, signal) => to.remove(leaseType, object.metadata, { uid: "u" }, signal && { signal })],
];

test.each(writes)("%s reaches the server while the Lease is held, and not otherwise", async (_, write) => {
  await write(fenced).catch(() => undefined);
  expect(server.requests).toHaveLength(1);
  held = false;
  await expect(write(fenced)).rejects.toBeInstanceOf(NotTheLeader);
  expect(server.requests).toHaveLength(1);
});

test.each(writes)("%s that is under way is given up when leadership ends", async (_, write) => {
  server.setFaults(() => ({ kind: "hang" }));
  const going = write(fenced, new AbortController().signal).catch((error: unknown) => error);
  await eventually(() => expect(server.open()).toBe(1));
  ending.abort(new Error("lost"));
  expect(await going).toBeInstanceOf(NotTheLeader);
  await eventually(() => expect(server.open()).toBe(0));
});

test("a caller that gives up gets its own reason", async () => {
  server.setFaults(() => ({ kind: "hang" }));
  const caller = new AbortController();
  const going = fenced.create(leaseType, object, { signal: caller.signal }).catch((error: unknown) => error);
  const reason = new Error("given up");
  caller.abort(reason);
  expect(await going).toBe(reason);
});

test("reading needs no Lease", async () => {
  held = false;
  ending.abort();
  expect((await fenced.list(leaseType, { limit: 1 })).items).toEqual([]);
  expect(await fenced.get(leaseType, { namespace: "a", name: "one" })).toBe(undefined);
});
