// Every query of dashboards, rules and alerts, asked of a real Prometheus that scraped a fleet
// under real traffic.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { counted } from "../../tools/dashboards/expressions.ts";
import { dashboards } from "../../tools/dashboards/generate.ts";
import { type OwnFleet, startFleet, systemNamespace } from "../support/fleet/fleet.ts";
import { eventually } from "../support/time/eventually.ts";
import { alertExpr, alertRules, rulesFile, teamAlertRules } from "./alert-rules.ts";
import { changes, impliedOf, kvRequests, rateSeconds, storedObjects, traffic } from "./implied.ts";
import { type NamespaceProxy, startNamespaceProxy } from "./namespace-proxy.ts";
import { type Sample, startPrometheus, type TestPrometheus } from "./prometheus.ts";

const patience = { withinMs: 30_000, everyMs: 500 };

let folder: string;
let fleet: OwnFleet;
let prometheus: TestPrometheus;
/** As the namespace's team asks it. */
let team: NamespaceProxy;
let namespace: string;
let secondBatch: number;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "jsonplane-queries-"));
  const tokenFile = join(folder, "token");
  const operatorArgs = ["--admin-token-secret", "metrics"];
  fleet = await startFleet({ replicas: 0, operatorArgs, replicaArgs: ["--admin-token-file", tokenFile] });
  await writeFile(tokenFile, await fleet.secret(systemNamespace, "metrics", "token"));
  await Promise.all([fleet.addReplica(), fleet.addReplica()]);
  namespace = await fleet.api.namespace();
  await fleet.api.apply(manifests(), { namespace });
  await fleet.ready(namespace);
  // Before the first scrape: what increases between two scrapes is extrapolated, and exact only in
  // the long run.
  await create(storedObjects);
  await send(traffic);
  const processes = [...fleet.operators, ...fleet.replicas];
  const targets = processes.map(({ adminUrl }, index) => ({
    address: new URL(adminUrl).host,
    labels: { pod: `pod-${index}`, namespace: systemNamespace, pod_namespace: systemNamespace },
  }));
  prometheus = await startPrometheus(targets, [rulesFile], tokenFile);
  team = await startNamespaceProxy(prometheus, namespace);
  await eventually(async () => expect(await prometheus.query("up == 1")).toHaveLength(processes.length), patience);
  await eventually(async () => expect(await sum("jsonplane_kv_requests_total")).toBe(kvRequests), patience);
});
afterAll(async () => {
  await team?.stop();
  await prometheus?.stop();
  await fleet?.stop();
  await rm(folder, { recursive: true, force: true });
});

const object = (kind: string, name: string, spec: object): string =>
  JSON.stringify({ apiVersion: "jsonplane.io/v1alpha1", kind, metadata: { name }, spec });

function manifests(): string {
  const projectRef = { name: "web" };
  const access = { read: "Anyone", create: "Anyone" };
  return [
    object("Project", "web", { limits: { quota: { objects: 1_000, bytes: 1_048_576 } } }),
    object("RootKey", "flags", { projectRef, key: "flags", initialValue: { on: true }, access: { read: "Anyone" } }),
    object("ApiResource", "items", { projectRef, resourceName: "items", schema: {}, access }),
    object("ProjectUser", "ann", { projectRef }),
  ].join("\n---\n");
}

async function create(count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) {
    const created = await fleet.replicas[0]?.send(`/${namespace}/web/api/items`, { method: "POST", body: { at } });
    expect(created?.status).toBe(201);
  }
}

async function send(requests: typeof traffic): Promise<void> {
  for (const [path, times, status] of requests) {
    for (let turn = 0; turn < times; turn += 1) {
      const replica = fleet.replicas[turn % fleet.replicas.length];
      const options = path === "/sessions" ? { method: "POST", as: "basic YW5uOndyb25n" } : {};
      expect((await replica?.send(`/${namespace}/web${path}`, options))?.status).toBe(status);
    }
  }
}

async function sum(metric: string): Promise<number> {
  const [sample] = await prometheus.query(`sum(${metric}{namespace="${namespace}"})`);
  return sample?.value ?? 0;
}

async function sumOfStatus(status: string): Promise<number> {
  const [sample] = await prometheus.query(
    `sum(jsonplane_kv_requests_total{namespace="${namespace}", status="${status}"})`,
  );
  return sample?.value ?? 0;
}

/** As Grafana fills it in. */
function filled(expr: string): string {
  return expr
    .replaceAll("$namespace", namespace)
    .replaceAll("$project", ".*")
    .replaceAll("$__rate_interval", `${rateSeconds}s`);
}

function queryOf(dashboard: string, title: string): string {
  const panels = dashboards
    .filter(({ uid }) => uid === dashboard)
    .flatMap(({ rows }) => rows.flatMap((row) => row.panels));
  const [query] = panels.find((panel) => panel.title === title)?.queries ?? [];
  if (query === undefined) throw new Error(`${dashboard} has no panel ${title}`);
  return filled(query.expr);
}

const byLabel = (samples: readonly Sample[], label: string): Readonly<Record<string, number>> =>
  Object.fromEntries(samples.map(({ labels, value }) => [labels[label] ?? "", value]));

describe("the dashboard Key/Value usage", () => {
  const usage = "jsonplane-key-value-usage";

  it("counts the requests of the last hour, each of them, also those before a first scrape", async () => {
    const found = await prometheus.query(queryOf(usage, "Requests in the last hour"));
    expect(found).toEqual([{ labels: { namespace, project: "web" }, value: kvRequests }]);
  });

  it("counts status codes", async () => {
    const found = await prometheus.query(queryOf(usage, "Status codes per 5 minutes"));
    expect(byLabel(found, "status")).toEqual({ "200": 7, "404": 5 });
  });

  it("shows the mean response time that the metrics imply", async () => {
    const [mean] = await prometheus.query(queryOf(usage, "Mean response time per 5 minutes"));
    const seconds = await sum("jsonplane_kv_request_duration_seconds_sum");
    expect(mean?.value).toBeCloseTo(seconds / kvRequests, 6);
  });
});

describe("what a project costs", () => {
  it("is 17 series for each resource and root key that was asked for, and one for each method and status, as the docs say", async () => {
    // In addition to what its quotas cost, a series for the limit and one for the use of each; and
    // next to the one that the operator has of it.
    const others = "jsonplane_(project_(quota|usage)|stored_objects)";
    const series = `{namespace="${namespace}", project="web", instance!="", __name__!~"${others}"}`;
    // flags and (unknown), items; 200 and 404 of flags, 404 of (unknown), 200 of items; on the
    // first replica creates and a refused login.
    const expected = [3 * 17 + 4, 3 * 17 + 4 + 2];
    await eventually(async () => {
      const costs = await prometheus.query(`count by (instance) (${series})`);
      expect(costs.map(({ value }) => value).sort()).toEqual(expected);
    }, patience);
  });
});

describe("what the operator costs", () => {
  it("is less than 500 series, and none carries the namespace or the name of an object, beside one for each Project", async () => {
    const [operator] = fleet.operators;
    const instance = `instance="${new URL(operator?.adminUrl ?? "").host}", __name__!="jsonplane_stored_objects"`;
    const [count] = await prometheus.query(`count({${instance}})`);
    expect(count?.value).toBeGreaterThan(100);
    expect(count?.value).toBeLessThan(500);
    for (const label of ["namespace", "exported_namespace", "project", "name"]) {
      expect([label, await prometheus.query(`{${instance}, ${label}=~"(${namespace}|web|items|flags)"}`)]).toEqual([
        label,
        [],
      ]);
    }
  });
});

describe("every query", () => {
  const queries = dashboards.flatMap(({ title, rows }) =>
    rows.flatMap(({ panels }) =>
      panels.flatMap((panel) => panel.queries.map((query) => ({ title, panel: panel.title, ...query }))),
    ),
  );
  const forTeams = "jsonplane / Namespace";

  // So that rates have two samples that differ.
  beforeAll(async () => {
    await sleep(3_000);
    secondBatch = Date.now();
    await send(traffic);
    await fleet.api.apply(object("RootKey", "late", { projectRef: { name: "web" }, key: "late" }), { namespace });
    for (let change = 0; change < changes; change += 1) {
      const spec = { cors: { allowedOrigins: [`https://host-${change}.example.org`] } };
      const patch = JSON.stringify({ spec });
      await fleet.api.kubectl(["patch", "jproj", "web", "--namespace", namespace, "--type=merge", "-p", patch]);
      await fleet.ready(namespace);
    }
    await eventually(async () => expect(await sum("jsonplane_kv_requests_total")).toBe(2 * kvRequests), patience);
    // Replicas count, and the operator looks, about once a minute.
    const slowly = { ...patience, withinMs: 150_000 };
    await eventually(async () => expect(await sum("jsonplane_stored_objects")).toBe(storedObjects), slowly);
  });

  it("counts exactly what came within the window, and nothing of before", async () => {
    const window = `${Math.ceil((Date.now() - secondBatch) / 1_000) + 1}s`;
    const selector = `namespace="${namespace}"`;
    const expr = counted({ metric: "jsonplane_kv_requests_total", selector, by: ["status"], window });
    expect(byLabel(await prometheus.query(expr), "status")).toEqual({ "200": 7, "404": 5 });
  });

  it.each(queries)(
    "$title, $panel, $legend: answers what the traffic implies",
    async ({ title, panel, legend, expr }) => {
      const check = impliedOf(title, panel, legend);
      const { operators, replicas } = fleet;
      const asked = title === forTeams ? team : prometheus;
      await eventually(async () => {
        // Of a histogram that counted nothing in the window there is no quantile.
        const found = (await asked.query(filled(expr))).filter(({ value }) => !Number.isNaN(value));
        check(found, { namespace, operators: operators.length, replicas: replicas.length });
      }, patience);
    },
  );

  it("of a team's dashboard and alerts shows it its own namespace, and never another team's", async () => {
    const other = await fleet.api.namespace();
    await fleet.api.apply(manifests(), { namespace: other });
    await fleet.ready(other);
    expect((await fleet.replicas[0]?.send(`/${other}/web/json/flags`))?.status).toBe(200);
    const otherTeam = await startNamespaceProxy(prometheus, other);
    try {
      const namespaces = 'count by (namespace) ({__name__=~".+"})';
      const seenBy = async (proxy: NamespaceProxy) => (await proxy.query(namespaces)).map(({ labels }) => labels);
      await eventually(async () => expect(await seenBy(otherTeam)).toEqual([{ namespace: other }]), patience);
      expect(await seenBy(team)).toEqual([{ namespace }]);
      expect(await team.labelValues("namespace")).toEqual([namespace]);
      // Also what is above a threshold is seen.
      const alerts = (await teamAlertRules()).map(({ expr }) => expr.replace(/ (>=?) [0-9.]+\s*$/, " >= 0"));
      const panels = queries.filter(({ title }) => title === forTeams).map(({ expr }) => filled(expr));
      for (const [proxy, own] of [
        [team, namespace],
        [otherTeam, other],
      ] as const) {
        await eventually(async () => {
          const answers = await Promise.all([...panels, ...alerts].map((expr) => proxy.query(expr)));
          expect(new Set(answers.flat().map(({ labels }) => labels["namespace"]))).toEqual(new Set([own]));
        }, patience);
      }
      await expect(team.query(`jsonplane_stored_objects{namespace="${other}"}`)).rejects.toThrow("conflicts");
    } finally {
      await otherTeam.stop();
      await fleet.api.kubectl(["delete", "projects.jsonplane.io", "web", "--namespace", other]);
    }
  });

  it("the recording rules sum up by project, namespace and pod", async () => {
    await eventually(async () => {
      const [recorded] = await prometheus.query(
        `namespace_project:jsonplane_requests:rate5m{namespace="${namespace}"}`,
      );
      expect(recorded?.value).toBeGreaterThan(0);
    }, patience);
    for (const [rule, value] of [
      ["namespace:jsonplane_requests:rate5m", expect.any(Number)],
      ["namespace:jsonplane_stored_objects:sum", storedObjects],
      ["namespace:jsonplane_stored_bytes:sum", expect.any(Number)],
    ] as const) {
      const samples = async () => prometheus.query(`${rule}{namespace="${namespace}"} > 0`);
      await eventually(
        async () => expect(await samples()).toEqual([{ labels: { __name__: rule, namespace }, value }]),
        patience,
      );
    }
    await eventually(async () => {
      const pods = await prometheus.query(`jsonplane_http_requests_per_second{namespace="${systemNamespace}"}`);
      expect(pods.filter(({ value }) => value > 0)).toHaveLength(fleet.replicas.length);
    }, patience);
  });
});

describe("the alerts", () => {
  /** They tell how slow something is, which may be the machine. */
  const aboutSpeed = ["JsonplaneSlowPropagation", "JsonplaneStoreSlow"];
  /**
   * There only where Redis is reached by TLS, objects are stalled, stored ones are invalid, or
   * backups are expected; test/observability/alerts.test.ts fires the alerts about them.
   */
  const notInEveryFleet = [
    "jsonplane_redis_certificate_expiry_timestamp_seconds",
    "jsonplane_stalled_objects",
    "jsonplane_invalid_stored_objects",
    "jsonplane_backup_last_success_timestamp_seconds",
    "jsonplane_backup_max_age_seconds",
  ];

  it("are silent about a fleet that is well, and every metric that they name is there", async () => {
    const alerts = await alertRules();
    expect(alerts.length).toBeGreaterThan(10);
    for (const { alert, expr } of alerts) {
      const firing = aboutSpeed.includes(alert) ? [] : await prometheus.query(expr);
      expect([alert, firing]).toEqual([alert, []]);
      const named =
        expr.match(/(?<![:\w])(?:jsonplane|controller_runtime|workqueue|leader_election)_[a-z_]+(?![:\w])/g) ?? [];
      const expected = named.filter((name) => !/_(bucket|count|sum)$/.test(name) && !notInEveryFleet.includes(name));
      for (const metric of expected) {
        await eventually(
          async () =>
            expect([alert, metric, (await prometheus.query(metric)).length > 0]).toEqual([alert, metric, true]),
          patience,
        );
      }
    }
  });
});

describe("when Redis is away", () => {
  const failures = 10;

  it("dashboards and alerts show the failed requests and calls, under the labels that they ask for", async () => {
    await fleet.redis.kill();
    const fail = async (): Promise<void> => {
      for (let turn = 0; turn < failures; turn += 1) {
        const replica = fleet.replicas[turn % fleet.replicas.length];
        expect((await replica?.send(`/${namespace}/web/json/flags`))?.status).toBe(503);
      }
    };
    const failed = (): Promise<number> => sumOfStatus("503");
    await fail();
    await eventually(async () => expect(await failed()).toBe(failures), patience);
    await fail();
    await eventually(async () => expect(await failed()).toBe(2 * failures), patience);

    const errors = await prometheus.query(queryOf("jsonplane-data-plane", "Server errors by project"));
    expect(errors.map(({ labels }) => labels)).toEqual([{ namespace, project: "web", status: "503" }]);
    // A series' first value, half of them here, is none that `rate` sees.
    expect((errors[0]?.value ?? 0) * rateSeconds).toBeGreaterThan(failures * 0.9);
    const byName = await prometheus.query(queryOf("jsonplane-data-plane", "Server errors by resource and root key"));
    expect(byName.map(({ labels }) => labels)).toEqual([{ namespace, project: "web", root_key: "flags" }]);
    const calls = await prometheus.query(queryOf("jsonplane-data-plane", "Failed calls to Redis per second"));
    const ofReads = calls.filter(
      ({ labels }) => labels["operation"] === "readAt" && labels["outcome"] === "unavailable",
    );
    expect((ofReads[0]?.value ?? 0) * rateSeconds).toBeGreaterThan(failures * 0.9);

    const [ratio] = await prometheus.query(await alertExpr("JsonplaneStoreFailing"));
    expect(ratio?.value).toBeGreaterThan(0.01);
  });
});
