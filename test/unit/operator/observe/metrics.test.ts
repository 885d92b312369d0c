import { describe, expect, test } from "vitest";
import type { ObjectCount } from "../../../../operator/observe/figures.ts";
import { createWorkQueue } from "../../../../operator/queue/work-queue.ts";
import { runWorkers } from "../../../../operator/queue/workers.ts";
import { operatorMetrics } from "../../../support/fleet/operator-metrics.ts";
import { manualClock } from "../../../support/time/manual-clock.ts";
import { manualTime } from "../../../support/time/manual-time.ts";

describe("work", () => {
  test("shows in the queue's and the controller's figures", async () => {
    const time = manualTime();
    const metrics = operatorMetrics({ queue: (stage) => queue.figures(stage), workers: 1 });
    const queue = createWorkQueue({ ...time, random: () => 0.5, observe: metrics.observeQueue });
    const hanging = Promise.withResolvers<undefined>();
    void runWorkers({
      signal: new AbortController().signal,
      ...time,
      queue,
      workers: 1,
      observe: metrics.observeWork,
      handle: (key) => (key === "bad" ? Promise.reject(new Error("no")) : hanging.promise),
    });
    for (const key of ["bad", "slow", "waiting"]) queue.add(key);
    await time.advance(31_000);
    const values = async (...names: string[]) => Promise.all(names.map((name) => metrics.series(name)));
    expect(
      await values(
        'workqueue_adds_total{name="project"}',
        'workqueue_retries_total{name="project"}',
        'workqueue_depth{name="project"}',
        'workqueue_longest_running_processor_seconds{name="project"}',
        'controller_runtime_active_workers{controller="project"}',
        'controller_runtime_max_concurrent_reconciles{controller="project"}',
        'controller_runtime_reconcile_total{controller="project",result="error"}',
        'controller_runtime_reconcile_errors_total{controller="project"}',
      ),
    ).toEqual([4, 1, 2, 31, 1, 1, 1, 1]);
    hanging.resolve(undefined);
    await time.advance(0);
    expect(
      await values(
        'workqueue_depth{name="project"}',
        'controller_runtime_active_workers{controller="project"}',
        'controller_runtime_reconcile_total{controller="project",result="success"}',
        'controller_runtime_reconcile_time_seconds_count{controller="project"}',
        'workqueue_work_duration_seconds_sum{name="project"}',
      ),
    ).toEqual([0, 0, 2, 4, 31]);
  });
});

describe("the API server", () => {
  test("shows in calls by code, method and host, those without an answer too", async () => {
    const { observeCall, series } = operatorMetrics();
    const call = { verb: "list", method: "GET", host: "api:6443", group: "", resource: "secrets", seconds: 0.2 };
    observeCall({ ...call, code: "200" });
    observeCall({ ...call, code: "<error>" });
    expect(await series('rest_client_requests_total{code="200",method="GET",host="api:6443"}')).toBe(1);
    expect(await series('rest_client_requests_total{code="<error>",method="GET",host="api:6443"}')).toBe(1);
    expect(await series('rest_client_request_duration_seconds_count{verb="list",host="api:6443"}')).toBe(2);
  });

  test("shows in failed lists and watches of a kind, and in when the kind was last heard of", async () => {
    const clock = manualClock(1_000_000);
    const informers = () => [
      { kind: "Project", idleMs: 30_000 },
      { kind: "Secret", idleMs: undefined },
    ];
    const { observeInformerError, series } = operatorMetrics({ clock, informers });
    observeInformerError("Project");
    expect(await series('jsonplane_informer_errors_total{kind="Project"}')).toBe(1);
    expect(await series('jsonplane_informer_last_activity_timestamp_seconds{kind="Project"}')).toBe(970);
    expect(await series('jsonplane_informer_last_activity_timestamp_seconds{kind="Secret"}')).toBe(0);
  });

  test("shows in who leads", async () => {
    let leads = false;
    const { series } = operatorMetrics({ leads: () => leads });
    const status = 'leader_election_master_status{name="jsonplane-operator"}';
    expect(await series(status)).toBe(0);
    leads = true;
    expect(await series(status)).toBe(1);
  });

  test("shows in events that were written and dropped", async () => {
    const { observeEvent, series } = operatorMetrics();
    observeEvent({ kind: "written" });
    observeEvent({ kind: "dropped", why: "limit" });
    expect(await series("jsonplane_events_written_total")).toBe(1);
    expect(await series('jsonplane_events_dropped_total{why="limit"}')).toBe(1);
  });
});

describe("configuration", () => {
  test("shows in publishes, fields, and how long a change took to be served", async () => {
    const { observeConfig, series } = operatorMetrics({ replicas: () => ({ live: 2, refusals: 3 }) });
    observeConfig({ kind: "published", seconds: 0.01, fields: 4 });
    observeConfig({ kind: "publish_failed" });
    observeConfig({ kind: "contested" });
    observeConfig({ kind: "programmed", seconds: 0.3 });
    observeConfig({ kind: "revoked", seconds: 0.2 });
    observeConfig({ kind: "secrets_swept", count: 1 });
    observeConfig({ kind: "purged", count: 1 });
    expect(await series("jsonplane_publish_seconds_count")).toBe(1);
    expect(await series("jsonplane_publish_fields_total")).toBe(4);
    expect(await series("jsonplane_publish_errors_total")).toBe(1);
    expect(await series("jsonplane_redis_contested_total")).toBe(1);
    expect(await series("jsonplane_apply_to_programmed_seconds_sum")).toBe(0.3);
    expect(await series("jsonplane_revocation_seconds_sum")).toBe(0.2);
    expect(await series("jsonplane_secrets_swept_total")).toBe(1);
    expect(await series("jsonplane_purges_total")).toBe(1);
    expect([await series("jsonplane_replicas_live"), await series("jsonplane_replica_refusals")]).toEqual([2, 3]);
  });

  test("shows how much memory each server of Redis uses, of how much it may, and when its certificate ends, as far as it says", async () => {
    const memory = { usedBytes: 5, maxBytes: 9 };
    const silent = { memory: undefined, certificateEnds: undefined };
    const { series } = operatorMetrics({
      redisServers: () => [
        { server: "r:6379", memory, certificateEnds: 1_500 },
        { server: "s:6379", ...silent },
      ],
    });
    expect(await series('jsonplane_redis_memory_used_bytes{server="r:6379"}')).toBe(5);
    expect(await series('jsonplane_redis_memory_max_bytes{server="r:6379"}')).toBe(9);
    expect(await series('jsonplane_redis_certificate_expiry_timestamp_seconds{server="r:6379"}')).toBe(1.5);
    expect(await series('jsonplane_redis_memory_used_bytes{server="s:6379"}')).toBeUndefined();
  });

  test("shows in counts of objects, and what is not counted any more is gone", async () => {
    let counts: readonly ObjectCount[] = [{ kind: "ApiKey", condition: "Ready", status: "False", count: 7 }];
    const { series } = operatorMetrics({ objects: () => counts });
    const unready = 'jsonplane_objects{kind="ApiKey",condition="Ready",status="False"}';
    expect(await series(unready)).toBe(7);
    counts = [{ kind: "ApiKey", condition: "Ready", status: "True", count: 7 }];
    expect(await series(unready)).toBeUndefined();
  });

  test("shows which namespaces have objects that need a person", async () => {
    const labels = { namespace: "shop", kind: "ApiKey", reason: "NameConflict" };
    const { series } = operatorMetrics({ stalled: () => [{ ...labels, count: 2 }] });
    expect(await series('jsonplane_stalled_objects{namespace="shop",kind="ApiKey",reason="NameConflict"}')).toBe(2);
  });
});
