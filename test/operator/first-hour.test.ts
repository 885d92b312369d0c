// The mistakes of an operator's first hour: each is told in words that say what to do, in its log
// or in a condition.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { configKeys } from "../../core/config/config-keys.ts";
import { systemNamespace } from "../support/fleet/fleet.ts";
import { type OperatorProcess, startOperatorProcess } from "../support/fleet/operator-process.ts";
import { shop } from "../support/fleet/shop.ts";
import type { OwnApiServer } from "../support/kubernetes/api-server/api-server.ts";
import { customResources, ensureNamespace } from "../support/kubernetes/api-server/api-server-objects.ts";
import { takeApiServer } from "../support/kubernetes/api-server/lent-api-server.ts";
import { freePort } from "../support/process/free-port.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { allowAsDocumented, documentedUrl } from "../support/redis/redis-acl.ts";
import { eventually } from "../support/time/eventually.ts";

let api: OwnApiServer;
const patience = { withinMs: 60_000 };
const ends: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  api = await takeApiServer();
  await ensureNamespace(api, systemNamespace);
});
afterAll(async () => {
  for (const end of ends.reverse()) await end();
  await api?.stop();
});

async function start(redis: string, ...args: readonly string[]): Promise<OperatorProcess> {
  const kubeconfig = await api.kubeconfig();
  // Each has a Lease of its own.
  const own = args.includes("--operator-namespace") ? [] : ["--operator-namespace", await api.namespace("operator")];
  const operator = await startOperatorProcess({ kubeconfig, redis, untilReady: false, args: [...own, ...args] });
  ends.push(() => operator.stop());
  return operator;
}

async function redisWith(options: Parameters<typeof startRedis>[0]): Promise<TestRedis> {
  const redis = await startRedis(options);
  ends.push(() => redis.stop());
  return redis;
}

describe("an operator", () => {
  it("that can't reach Redis says where it looked and why it failed, and no password", async () => {
    const port = await freePort();
    const operator = await start(`redis://someone:a-secret@127.0.0.1:${port}`);
    await eventually(
      () => expect(operator.log()).toContain(`Redis at 127.0.0.1:${port} can't be reached: ECONNREFUSED`),
      patience,
    );
    expect(operator.log()).not.toContain("a-secret");
  });

  it("that Redis doesn't know says so", async () => {
    const redis = await redisWith({ args: ["--requirepass", "right"] });
    const operator = await start(`redis://:wrong@127.0.0.1:${redis.port}`);
    await eventually(
      () => expect(operator.log()).toContain(`Redis at 127.0.0.1:${redis.port} can't be reached: WRONGPASS`),
      patience,
    );
    expect(operator.log()).not.toContain("wrong@");
  });

  it("with a Redis that lacks the JSON module says so, in its log and in conditions", async () => {
    const redis = await redisWith({ json: false });
    const namespace = await api.namespace();
    await api.apply(shop(), { namespace });
    const reported = async () => JSON.stringify(await customResources(api, namespace));
    const operator = await start(redis.url, "--watch-namespaces", namespace);
    await eventually(() => expect(operator.log()).toContain("This Redis has no JSON module: load RedisJSON"), patience);
    await eventually(async () => expect(await reported()).toContain("This Redis has no JSON module"), patience);
  });

  it.each([
    ["which replicas there are", "%R~{jsonplane}:replicas"],
    ["what replicas acknowledge", "%R~{jsonplane}:ack:*"],
  ])("whose Redis user may not read %s says so, and what the user needs", async (_, right) => {
    const redis = await redisWith({});
    await allowAsDocumented(redis, right);
    // A replica of long ago would not count.
    await askRedis(redis.port, `ZADD ${configKeys.replicas} ${Date.now() + 3_600_000} replica`);
    const operator = await start(documentedUrl(redis, "jsonplane-operator"));
    await eventually(() => {
      expect(operator.log()).toContain("Failed to read acknowledgements of replicas");
    }, patience);
    expect(operator.log()).toContain("The operator's Redis user lacks rights: see docs/reference/redis.md");
  });

  it("without its namespace says which one to create", async () => {
    const operator = await start((await redisWith({})).url, "--operator-namespace", "nowhere");
    await eventually(() => {
      expect(operator.log()).toContain("Create the namespace nowhere, or name another one with --operator-namespace");
    }, patience);
  });
});

describe("an operator that the API server", () => {
  /** Watches of all kinds fail again and again. */
  async function refused(kubeconfig: string, ...args: readonly string[]): Promise<OperatorProcess> {
    const operator = await startOperatorProcess({
      kubeconfig,
      redis: (await redisWith({})).url,
      untilReady: false,
      args,
    });
    ends.push(() => operator.stop());
    return operator;
  }
  const interrupted = (operator: OperatorProcess) =>
    operator
      .log()
      .split("\n")
      .filter((line) => line.includes("List or watch failed"));

  it("gives no rights names what to apply, and says it once for each kind", async () => {
    const kubeconfig = await api.kubeconfig({ namespace: "jsonplane-system", serviceAccount: "nobody" });
    const operator = await refused(kubeconfig);
    await eventually(() => expect(operator.log()).toContain("The operator lacks rights: see deploy/rbac"), patience);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const kinds = interrupted(operator).map((line) => (JSON.parse(line) as { kind: string }).kind);
    expect(new Set(kinds).size).toBe(kinds.length);
  });
});
