// Two releases of one class in one namespace, each with a Redis of its own: they would share the Lease and the key ring. The operator of
// the one that came later says so and doesn't become ready.

import { afterAll, beforeAll, expect, it } from "vitest";
import { type OperatorProcess, startOperatorProcess } from "../support/fleet/operator-process.ts";
import { sharedApiServer } from "../support/fleet/shared-fleet.ts";
import { send } from "../support/http/http-client.ts";
import type { TestApiServer } from "../support/kubernetes/api-server/api-server-access.ts";
import { apiObject } from "../support/kubernetes/api-server/api-server-call.ts";
import { askRedis } from "../support/redis/ask-redis.ts";
import { startRedis, type TestRedis } from "../support/redis/redis.ts";
import { eventually } from "../support/time/eventually.ts";

const within = { withinMs: 90_000 };
const ring = "jsonplane-keyring-shared-place";

let server: TestApiServer;
let namespace: string;
let redisServers: readonly [TestRedis, TestRedis];
const operators: OperatorProcess[] = [];

beforeAll(async () => {
  server = await sharedApiServer();
  namespace = await server.namespace();
  redisServers = [await startRedis(), await startRedis()];
});
afterAll(async () => {
  await Promise.all(operators.map((operator) => operator.stop()));
  await Promise.all((redisServers ?? []).map((redis) => redis.stop()));
});

const releases = ["one", "two"] as const;

/** With the chart's flags. */
async function start(release: (typeof releases)[number]): Promise<OperatorProcess> {
  const operator = await startOperatorProcess({
    kubeconfig: await server.kubeconfig(),
    redis: redisServers[releases.indexOf(release)]?.url ?? "",
    args: [
      ...["--release-name", release, "--class-name", "shared-place", "--lease-duration", "3s"],
      ...["--operator-namespace", namespace, "--watch-namespaces", namespace],
    ],
    untilReady: false,
  });
  operators.push(operator);
  return operator;
}

const lease = () => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/jsonplane-operator-shared-place`;
const readiness = async ({ adminUrl }: OperatorProcess): Promise<string> => (await send(adminUrl, "/readyz")).text;
const leads = (operator: OperatorProcess) => eventually(async () => expect(await operator.leads()).toBe(true), within);
const ringIn = async () => (await apiObject(server, `/api/v1/namespaces/${namespace}/secrets/${ring}`))["data"];

let first: OperatorProcess;
let second: OperatorProcess;

it("the operator of a second release names the first in its log, and writes nothing while that one's operator is replaced", async () => {
  first = await start("one");
  await leads(first);
  const before = await eventually(ringIn, within);
  second = await start("two");
  await eventually(() => expect(second.log()).toContain("Another release of this class has the Lease"), within);
  expect(second.log()).toContain('"release":"one"');

  await first.stop();
  first = await start("one");
  await leads(first);
  expect(second.log()).not.toContain('"Acquired Lease"');
  expect(await askRedis(redisServers[1].port, "DBSIZE")).toBe(":0\r\n");
  expect(await ringIn()).toEqual(before);
});

it("it doesn't become ready, and says why", async () => {
  await eventually(async () => {
    expect(await readiness(second)).toBe("the Lease belongs to the release one\n");
  }, within);
  expect(await second.ready()).toBe(503);
});

it("it leads and is ready once the first is uninstalled and a person has deleted the Lease", async () => {
  await first.stop();
  await apiObject(server, lease(), { method: "DELETE" });
  await leads(second);
  await eventually(async () => expect(await second.ready()).toBe(200), within);
  expect(await apiObject(server, lease())).toMatchObject({
    metadata: { annotations: { "jsonplane.io/release": "two" } },
  });
});
