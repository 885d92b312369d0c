// A real API server shows by a bookmark that a cache is not behind, however many objects there are:
// of custom resources, of Secrets by their label, and of a cache whose connection died without a
// word.

import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { systemMonotonic } from "../../core/timers.ts";
import type { KubeApi, ListScope, ResourceType } from "../../operator/kube/api.ts";
import { createKubeApi } from "../../operator/kube/connect.ts";
import { customTypes, secretType } from "../../operator/kube/objects.ts";
import type { ReflectorObservation } from "../../operator/watch/reflector-options.ts";
import type { OwnApiServer } from "../support/kubernetes/api-server/api-server.ts";
import { takeApiServer } from "../support/kubernetes/api-server/lent-api-server.ts";
import { type Declared, declared, secretOf } from "../support/kubernetes/declared.ts";
import { kubeconfigThrough } from "../support/kubernetes/kubeconfig-through.ts";
import { startTcpProxy, type TcpProxy } from "../support/process/tcp-proxy.ts";
import { eventually } from "../support/time/eventually.ts";
import { operatorUserOf } from "./operator-users.ts";
import { startReflector } from "./started-reflector.ts";

const never = new AbortController().signal;
let server: OwnApiServer;
let proxy: TcpProxy;
let api: KubeApi;
beforeAll(async () => {
  server = await takeApiServer();
  proxy = await startTcpProxy(Number(new URL(server.url).port));
  const user = await operatorUserOf(server, "operator-that-confirms");
  const kubeconfig = await kubeconfigThrough(await server.kubeconfig(user), proxy.port);
  const monotonic = systemMonotonic;
  ({ api } = await createKubeApi({ kubeconfig, environment: {}, observe: () => undefined, monotonic }));
});
afterAll(async () => {
  await api?.close();
  await proxy?.stop();
  await server?.stop();
});

async function created(namespace: string, ...objects: readonly Declared[]): Promise<void> {
  await server.apply(objects.map((object) => JSON.stringify(object)).join("\n---\n"), { namespace });
}

async function watching(type: ResourceType, scope: ListScope) {
  const observed: ReflectorObservation[] = [];
  const observe = (observation: ReflectorObservation) => void observed.push(observation);
  const reflector = startReflector(api, { type, scope }, { observe, times: { maxCompared: 0 } });
  onTestFinished(() => reflector.stop());
  await eventually(() => expect(reflector.isCurrent()).toBe(true));
  observed.length = 0;
  return { reflector, observed };
}

const kinds = [
  ["custom resources", customTypes.ApiKey, {}],
  ["Secrets of a label", secretType, { labelSelector: "app.kubernetes.io/managed-by!=jsonplane", metadataOnly: true }],
] as const;

it.each(kinds)(
  "%s are confirmed although nothing but other kinds has changed, and nothing is listed",
  async (_, type, scope) => {
    const namespace = await server.namespace();
    await created(namespace, declared("ApiKey", "one", { access: "Read" }), secretOf("one", { a: "b" }));
    const { reflector, observed } = await watching(type, scope);
    await created(namespace, declared("Project", "shop"));
    expect(await reflector.confirm(never)).toBe(true);
    expect(observed.filter(({ what }) => what === "listed" || what === "compared")).toEqual([
      { what: "compared", behind: 0 },
    ]);
  },
);

it("what was changed behind a connection that died is there once it is confirmed", async () => {
  const namespace = await server.namespace();
  await created(namespace, declared("ApiKey", "one", { access: "Read" }));
  const { reflector, observed } = await watching(customTypes.ApiKey, {});
  proxy.abandon();
  await created(namespace, declared("ApiKey", "two", { access: "Read" }));
  expect(await reflector.confirm(never)).toBe(true);
  expect(reflector.watched.get(namespace, "two")).toBeDefined();
  expect(observed.map(({ what }) => what)).not.toContain("listed");
});
