// What an operator can't see of a CustomResourceDefinition that is deleted: it was cut off
// meanwhile, its right to read definitions was taken away, or it never had one and comes to lead
// while the definition is missing.

import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import { type GuardedShop, openGuardedShop } from "../support/fleet/guarded-shop.ts";
import type { OperatorProcess } from "../support/fleet/operator-process.ts";
import { installCrds } from "../support/kubernetes/api-server/api-server.ts";
import { apiCall, apiObject } from "../support/kubernetes/api-server/api-server-call.ts";
import { type Declared, declared, openBooks } from "../support/kubernetes/declared.ts";
import { bookCount } from "../support/kubernetes/former-namespace.ts";
import { kubeconfigThrough } from "../support/kubernetes/kubeconfig-through.ts";
import { changeRule, grantOperator, operatorUser } from "../support/kubernetes/rbac.ts";
import { startTcpProxy, type TcpProxy } from "../support/process/tcp-proxy.ts";
import { eventually } from "../support/time/eventually.ts";
import { definitionPath, definitionsGone, deleteDefinitions } from "./definitions.ts";

const within = { withinMs: 90_000 };
const books = openBooks({ deletionPolicy: "Delete" });
const notes = declared("ApiResource", "notes", { schema: {} });
const keys = ["web", "second"].map((name) => declared("ApiKey", name, { access: "Write" }));

let fleet: OwnFleet;
let redis: Redis;
let proxy: TcpProxy;
let shop: GuardedShop;

beforeAll(async () => {
  fleet = await startFleet({ operators: 0, replicas: 0, api: { own: true }, operatorArgs: ["--lease-duration", "4s"] });
  redis = new Redis(fleet.redis.url);
  proxy = await startTcpProxy(Number(new URL(fleet.api.url).port));
  await grantOperator(fleet.api, "cluster");
  const kubeconfig = await fleet.api.kubeconfig(operatorUser);
  await fleet.addOperator({ kubeconfig: await kubeconfigThrough(kubeconfig, proxy.port) });
  await fleet.addReplica();
  shop = await openGuardedShop(fleet, books, ...keys);
});
afterAll(async () => {
  redis?.disconnect();
  await proxy?.stop();
  await fleet?.stop();
});

const storedBooks = () => redis.zcard(`jp:{${shop.namespace}/shop/books}:ids`);

async function bookWritten(): Promise<void> {
  await shop.everywhere("/api/books", { method: "POST", body: {} }, (reply) => expect(reply.status).toBe(201), within);
}

async function apply(...objects: readonly Declared[]): Promise<void> {
  for (const object of objects) await eventually(() => shop.create(object), within);
}

/**
 * Nobody of the operator's connections passes anything meanwhile; afterwards they are gone, and new
 * ones work.
 */
async function unseen(change: () => Promise<void>): Promise<void> {
  proxy.hold();
  await change();
  proxy.cut();
}

/** As people do when something that is deleted does not go. */
async function withoutFinalizers(kind: string, name: string): Promise<void> {
  await shop.patch(kind, name, { metadata: { finalizers: null } });
}

describe("an operator that was cut off from the API server", () => {
  it("treats an object that was deleted with its definition as deleted, and the one that was created again as another one", async () => {
    await bookWritten();
    await unseen(async () => {
      await deleteDefinitions(fleet.api, "apiresources");
      await withoutFinalizers("ApiResource", "books");
      await definitionsGone(fleet.api, "apiresources");
      await installCrds(fleet.api);
      await apply(notes, books);
    });
    await eventually(async () => expect(await storedBooks()).toBe(0), within);
    await shop.reports("ApiResource", "books", "Ready", within);
    await bookCount(shop, 0);
  });

  it("deletes the data of an object that was deleted by itself, and made anew", async () => {
    await bookWritten();
    await unseen(async () => {
      await shop.remove("ApiResource", "books");
      await withoutFinalizers("ApiResource", "books");
      await shop.gone("ApiResource", "books", within);
      await apply(books);
    });
    await eventually(async () => expect(await storedBooks()).toBe(0), within);
    await shop.reports("ApiResource", "books", "Ready", within);
    await bookCount(shop, 0);
  });
});

const clusterRole = "/apis/rbac.authorization.k8s.io/v1/clusterroles/jsonplane-operator";

async function mayReadDefinitions(verb: "get" | "list"): Promise<void> {
  const { rules } = (await apiObject(fleet.api, clusterRole)) as unknown as { rules: { resources: string[] }[] };
  const rule = rules.findIndex(({ resources }) => resources.includes("customresourcedefinitions"));
  await changeRule(fleet.api, clusterRole, { [`${rule}/verbs`]: [verb] });
  const status = verb === "get" ? 200 : 403;
  await eventually(async () => {
    expect((await apiCall(fleet.api, definitionPath("projects"), { as: operatorUser })).status).toBe(status);
  });
}

describe("an operator that may no longer read definitions", () => {
  const failures = () => fleet.operators[0]?.log().match(/deletions of its kind wait.*forbidden/gi)?.length ?? 0;

  it("takes nothing for deleted while it may not, and revokes once it may again", async () => {
    const second = await shop.key("second-api-key");
    await shop.admitted(second);
    await mayReadDefinitions("list");
    await shop.remove("ApiKey", "second");
    await eventually(() => expect(failures()).toBeGreaterThan(0), within);
    await shop.admitted(second);
    await mayReadDefinitions("get");
    await shop.refused(second);
    await shop.gone("Secret", "second-api-key", within);
  });

  it("keeps what is deleted with its definition, also once it may read that none stands", async () => {
    const key = await shop.key();
    await mayReadDefinitions("list");
    await deleteDefinitions(fleet.api, "apikeys");
    await definitionsGone(fleet.api, "apikeys");
    await shop.admitted(key);
    await mayReadDefinitions("get");
    // It asks again each second.
    await sleep(3_000);
    await shop.admitted(key);
    expect(await shop.key()).toBe(key);
    await installCrds(fleet.api);
    await shop.refused(key);
  });
});

describe("an operator of single namespaces", () => {
  it("comes to lead while a definition is missing, and goes on with the other kinds", async () => {
    for (const operator of fleet.operators.splice(0)) await operator.stop();
    await grantOperator(fleet.api, [shop.namespace]);
    const kubeconfig = await fleet.api.kubeconfig(operatorUser);
    const start = (): Promise<OperatorProcess> =>
      fleet.addOperator({ kubeconfig, args: ["--watch-namespaces", shop.namespace] });
    const leader = await start();
    await eventually(async () => expect(await leader.leads()).toBe(true), within);
    const standby = await start();
    onTestFinished(() => installCrds(fleet.api));
    await deleteDefinitions(fleet.api, "rootkeys");
    await definitionsGone(fleet.api, "rootkeys");
    await leader.stop();
    await eventually(async () => expect(await standby.leads()).toBe(true), within);
    await shop.edit("ApiResource", "books", { access: { read: "Nobody" } });
    await shop.everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(403), within);
  });
});
