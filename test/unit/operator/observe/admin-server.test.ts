import { expect, test } from "vitest";
import { createAdminServer } from "../../../../operator/observe/admin-server.ts";
import { operatorMetrics } from "../../../support/fleet/operator-metrics.ts";

const metrics = operatorMetrics();

test("a process is ready once it knows the cluster's objects, and healthy before", async () => {
  let why: string | undefined = "the cluster's objects are not loaded yet";
  const app = createAdminServer({ metrics, notReady: () => why });
  const status = async (url: string) => (await app.inject({ url })).statusCode;
  expect([await status("/healthz"), await status("/readyz")]).toEqual([200, 503]);
  expect((await app.inject({ url: "/readyz" })).body).toBe("the cluster's objects are not loaded yet\n");
  why = undefined;
  expect([await status("/healthz"), await status("/readyz")]).toEqual([200, 200]);
});

test("a process that only a restart helps says so", async () => {
  const app = createAdminServer({ metrics, notReady: () => undefined, healthy: () => false });
  expect((await app.inject({ url: "/healthz" })).statusCode).toBe(503);
});

test("metrics come as Prometheus reads them", async () => {
  const answer = await createAdminServer({ metrics, notReady: () => undefined }).inject({ url: "/metrics" });
  expect(answer.headers["content-type"]).toContain("text/plain; version=0.0.4");
  expect(answer.body).toContain('leader_election_master_status{name="jsonplane-operator"} 0');
});
