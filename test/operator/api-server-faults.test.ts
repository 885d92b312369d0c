// The API server killed, away, without its history, cut off, contended and forbidding, under two
// operators: what was changed meanwhile is live soon after, without anybody's help, and clients
// never notice.

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { configKeys } from "../../core/config/config-keys.ts";
import { type OwnFleet, startFleet } from "../support/fleet/fleet.ts";
import type { OperatorProcess } from "../support/fleet/operator-process.ts";
import { shop } from "../support/fleet/shop.ts";
import { startTraffic, type Traffic } from "../support/fleet/traffic.ts";
import { apiObject } from "../support/kubernetes/api-server/api-server-call.ts";
import { folderOf } from "../support/kubernetes/api-server/api-server-objects.ts";
import { kubeconfigThrough } from "../support/kubernetes/kubeconfig-through.ts";
import { changeRule, grantOperator } from "../support/kubernetes/rbac.ts";
import { startTcpProxy, type TcpProxy } from "../support/process/tcp-proxy.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { eventually } from "../support/time/eventually.ts";

const seconds = 1_000;
/**
 * Shorter than what would put everything right in the end: a watch that is silent is given up after
 * two minutes.
 */
const patience = { withinMs: 40 * seconds };
/** Of the operators. */
const leaseSeconds = 4;
let fleet: OwnFleet;
let proxy: TcpProxy;
let kubeconfig: string;
let namespace: string;
let traffic: Traffic;
let longest = 100;

beforeAll(async () => {
  fleet = await startFleet({ operators: 0, replicas: 0, api: { audit: true } });
  proxy = await startTcpProxy(Number(new URL(fleet.api.url).port));
  const user = await grantOperator(fleet.api, "cluster");
  kubeconfig = await kubeconfigThrough(await fleet.api.kubeconfig(user), proxy.port);
  const args = ["--lease-duration", `${leaseSeconds}s`];
  await Promise.all([fleet.addOperator({ kubeconfig, args }), fleet.addOperator({ kubeconfig, args })]);
  await fleet.addReplica();
  namespace = await fleet.api.namespace();
  await fleet.api.apply(shop(), { namespace });
  await fleet.ready(namespace);
});
afterAll(async () => {
  await fleet?.stop();
  await proxy?.stop();
});

beforeEach(() => {
  traffic = startTraffic(() => replica().send(`/${namespace}/shop/api/items`));
});
afterEach(async () => {
  expect((await traffic.stop()).failures).toEqual([]);
});

function replica() {
  const [first] = fleet.replicas;
  if (first === undefined) throw new Error("There is no replica");
  return first;
}

async function leader(): Promise<OperatorProcess> {
  for (const operator of fleet.operators) if (await operator.leads().catch(() => false)) return operator;
  throw new Error("Nobody leads");
}

async function edit(): Promise<void> {
  longest += 1;
  await fleet.api.apply(shop({ longest }), { namespace });
}

/** The newest edit is served, and every object says so. */
async function expectLive(): Promise<void> {
  await expectServed();
  await fleet.ready(namespace);
}

async function expectServed(): Promise<void> {
  const key = await fleet.secret(namespace, "web-api-key", "apiKey");
  const asked = { method: "POST", body: { title: "x".repeat(longest + 1) }, as: `apikey ${key}` };
  await eventually(async () => {
    const answer = await replica().send(`/${namespace}/shop/api/items`, asked);
    expect(answer.text).toContain(` ${longest} `);
  }, patience);
}

describe("an API server", () => {
  it("whose connections are cut again and again", async () => {
    for (let cut = 0; cut < 10; cut += 1) {
      await edit();
      proxy.cut();
      await sleep(100);
    }
    await expectLive();
  });

  it("that swallows every answer for a while", async () => {
    proxy.drop("replies");
    await edit();
    await sleep(3 * seconds);
    proxy.cut();
    await expectLive();
  });

  it("that is killed in the middle of work, and started again", async () => {
    await edit();
    await fleet.api.kill9ApiServer();
    await fleet.api.restartApiServer();
    await edit();
    await expectLive();
  });

  it("that has forgotten its history while it was away", async () => {
    await edit();
    await fleet.api.kill9ApiServer();
    await fleet.api.compactEtcd();
    await fleet.api.restartApiServer();
    await expectLive();
    await edit();
    await expectLive();
  });

  it("that is away for longer than a Lease lasts", async () => {
    await edit();
    await fleet.api.kill9ApiServer();
    await sleep(2 * leaseSeconds * seconds);
    await fleet.api.restartApiServer();
    await edit();
    await expectLive();
  });

  it("where others edit the same statuses and Secrets all the time", async () => {
    let done = false;
    let edits = 0;
    const patch = async (path: string, body: object): Promise<void> => {
      edits += 1;
      const contentType = "application/merge-patch+json";
      await apiObject(fleet.api, path, { method: "PATCH", body, contentType });
    };
    const contend = async (): Promise<void> => {
      while (!done) {
        const entry = { baseURL: Buffer.from(`edited ${edits}`).toString("base64") };
        await Promise.all([
          patch(`${folderOf("Project", namespace)}/shop/status`, {
            status: { baseURL: `http://edited.test/${edits}` },
          }),
          patch(`${folderOf("Secret", namespace)}/web-api-key`, { data: entry }),
          sleep(50),
        ]);
      }
    };
    const contending = contend();
    for (let round = 0; round < 5; round += 1) {
      await edit();
      await sleep(500);
    }
    // The Secret is put right ever more seldom, and says so: its key may not be Ready meanwhile.
    await expectServed();
    done = true;
    await contending;
    // Whoever changes a status changes no object: it is put right with the next change of one, or
    // within ten minutes.
    await edit();
    await expectLive();
    expect(edits).toBeGreaterThan(10);
    await eventually(async () => {
      expect(await fleet.secret(namespace, "web-api-key", "baseURL")).toBe(`${fleet.publicUrl}/${namespace}/shop`);
      const { status } = await fleet.get("Project", namespace, "shop");
      expect(status?.["baseURL"]).toBe(`${fleet.publicUrl}/${namespace}/shop`);
    }, patience);
  });

  it("that forbids everything but the Lease until the rights are given back", async () => {
    const before = await eventually(leader, patience);
    const binding = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/jsonplane-operator";
    await apiObject(fleet.api, binding, { method: "DELETE" });
    await edit();
    // A watch that is open stays so; its next one is refused.
    proxy.cut();
    await eventually(() => expect(before.log()).toContain("forbidden"), patience);
    await grantOperator(fleet.api, "cluster");
    await expectLive();
    expect(await leader()).toBe(before);
  });

  it("that shows no Secret while Redis is emptied: what was served is published again, and is served on", async () => {
    const secrets = `${folderOf("Secret", namespace)}/given`;
    const user = { projectRef: { name: "shop" }, passwordSecretRef: { name: "given", key: "password" } };
    await fleet.api.apply(
      [
        { apiVersion: "v1", kind: "Secret", metadata: { name: "given" }, stringData: { password: "first" } },
        { apiVersion: "jsonplane.io/v1alpha1", kind: "ProjectUser", metadata: { name: "ann" }, spec: user },
      ]
        .map((object) => JSON.stringify(object))
        .join("\n---\n"),
      { namespace },
    );
    await fleet.ready(namespace);
    const leading = await eventually(leader, patience);
    const role = "/apis/rbac.authorization.k8s.io/v1/clusterroles/jsonplane-operator";
    const { rules } = (await apiObject(fleet.api, role)) as unknown as { rules: { resources: string[] }[] };
    const at = rules.findIndex(({ resources }) => resources.includes("secrets"));
    const allButReading = ["list", "watch", "create", "update", "delete"];
    await changeRule(fleet.api, role, { [`${at}/verbs`]: allButReading });
    await apiObject(fleet.api, secrets, {
      method: "PATCH",
      body: { stringData: { password: "second" } },
      contentType: "application/merge-patch+json",
    });
    await eventually(() => expect(leading.log()).toMatch(/Failed to reconcile Project.*secrets.*403/), patience);
    await askRedis(fleet.redis.port, "FLUSHALL");
    const complete = (): Promise<string> => askRedis(fleet.redis.port, `HGET ${configKeys.meta} complete`);
    await eventually(async () => expect(await complete()).toContain("1"), patience);
    // Replicas compare what they serve with Redis every five seconds.
    await sleep(7 * seconds);
    expect((await replica().send(`/${namespace}/shop/api/items`)).status).toBe(200);
    await changeRule(fleet.api, role, { [`${at}/verbs`]: ["get", ...allButReading] });
    await edit();
    await expectLive();
  });
});
