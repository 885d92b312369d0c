// What each query of the dashboards must answer after the traffic of queries.test.ts: a query that
// is not listed here fails.

import { expect } from "vitest";
import type { Sample } from "./prometheus.ts";

/** Paths, how often each is asked, and what is answered. */
export const traffic = [
  ["/json/flags", 7, 200],
  ["/json/flags/off", 3, 404],
  ["/json/nothing", 2, 404],
  ["/api/items", 5, 200],
  ["/sessions", 1, 401],
] as const;
export const kvRequests = 12;
/** Created before Prometheus looks. */
export const storedObjects = 3;

/** Objects that are Ready: Project, two RootKeys, ApiResource, ProjectUser. */
export const objects = 5;
/** Changes of the Project while Prometheus watches. */
export const changes = 3;

export interface Installation {
  readonly namespace: string;
  readonly replicas: number;
  readonly operators: number;
}

type Check = (samples: readonly Sample[], installation: Installation) => void;

/** Of `$__rate_interval`; the traffic lies within it, after a first scrape. */
export const rateSeconds = 600;
/**
 * Rates extrapolate by up to a scrape, one second here, on either side of the half minute that is
 * there.
 */
const tolerance = 0.15;

const keyed = (samples: readonly Sample[], labels: readonly string[]): Record<string, number> =>
  Object.fromEntries(samples.map((sample) => [labels.map((label) => sample.labels[label]).join(" "), sample.value]));

/** So many within the window, by these labels, and no others but some that count nothing. */
function rates(labels: readonly string[], expected: Readonly<Record<string, number>>): Check {
  return (samples) => {
    const counts = Object.entries(keyed(samples, labels)).map(([key, value]) => [key, value * rateSeconds] as const);
    expect(new Set(counts.filter(([, count]) => count > 0).map(([key]) => key))).toEqual(
      new Set(Object.keys(expected)),
    );
    for (const [key, count] of counts.filter(([, each]) => each > 0)) {
      const wanted = expected[key] ?? 0;
      expect(Math.abs(count - wanted) / wanted, `${key}: ${count} of ${wanted}`).toBeLessThan(tolerance);
    }
  };
}

/**
 * At least so many within the window, of these: what else the fleet does next to the traffic is not
 * told apart.
 */
function ratesAtLeast(labels: readonly string[], expected: Readonly<Record<string, number>>): Check {
  return (samples) => {
    const found = keyed(samples, labels);
    for (const [key, count] of Object.entries(expected)) {
      expect((found[key] ?? 0) * rateSeconds, key).toBeGreaterThan(count * (1 - tolerance));
    }
  };
}

const exactly =
  (labels: readonly string[], expected: Readonly<Record<string, number>>): Check =>
  (samples) =>
    expect(keyed(samples, labels)).toEqual(expected);

const one =
  (value: (installation: Installation) => number): Check =>
  (samples, installation) =>
    expect(samples).toEqual([{ labels: {}, value: value(installation) }]);

/** A figure for each of them, each within bounds: durations, ages and memory are the machine's. */
function within(from: number, to: number, count: (installation: Installation) => number = () => 1): Check {
  return (samples, installation) => {
    expect(samples).toHaveLength(count(installation));
    for (const { value } of samples) {
      expect(value).toBeGreaterThanOrEqual(from);
      expect(value).toBeLessThanOrEqual(to);
    }
  };
}

/** A duration for each of these and no other. */
function timed(label: string, names: readonly string[]): Check {
  return (samples) => {
    const found = keyed(samples, [label]);
    expect(Object.keys(found).sort()).toEqual(names);
    for (const value of Object.values(found)) expect(value).toBeLessThanOrEqual(10);
  };
}

const nothing: Check = (samples) => expect(samples).toEqual([]);
const ofProject: Check = (samples, { namespace }) =>
  expect(samples.map(({ labels }) => labels)).toEqual([{ namespace, project: "web" }]);
const both =
  (...checks: readonly Check[]): Check =>
  (samples, installation) => {
    for (const check of checks) check(samples, installation);
  };

const ofNamespace: Check = (samples, { namespace }) =>
  expect(samples.map(({ labels }) => labels)).toEqual([{ namespace }]);
const value =
  (expected: number): Check =>
  (samples) =>
    expect(samples.map((sample) => sample.value)).toEqual([expected]);
/** So many within the window, whatever the labels are. */
const rate =
  (count: number): Check =>
  (samples, installation) =>
    rates([], { "": count })(samples, installation);

const project = ["project"];
const durations = within(0.000_01, 10);
const megabyte = 2 ** 20;

/** By dashboard, panel and legend. */
export const implied: Readonly<Record<string, Check>> = {
  "Key/Value usage, Requests in the last hour": exactly(project, { web: 2 * kvRequests }),
  "Key/Value usage, Status codes per 5 minutes": exactly(["status"], { "200": 14, "404": 10 }),
  "Key/Value usage, Mean response time per 5 minutes": both(ofProject, durations),

  "Data plane, Requests per second by project": both(ofProject, rates(project, { web: kvRequests + 5 })),
  "Data plane, Server errors by project": nothing,
  "Data plane, Requests per second by resource": rates(["resource"], { items: 5 }),
  "Data plane, Requests per second by root key": rates(["root_key"], { flags: 10, "(unknown)": 2 }),
  "Data plane, Duration by project, 99th percentile": both(ofProject, durations),
  "Data plane, Server errors by resource and root key": nothing,
  "Data plane, Duration by resource, 99th percentile": timed("resource", ["items"]),
  "Data plane, Duration by root key, 99th percentile": timed("root_key", ["(unknown)", "flags"]),
  "Data plane, Status codes": rates(["status"], { "200": 12, "404": 5 }),
  "Data plane, Logins by outcome": exactly(["outcome"], { refused: 2 }),
  "Data plane, Password checks": exactly(["state"], { running: 0, waiting: 0 }),
  "Data plane, Other requests per second": rates(["target", "status"], { "sessions 401": 1 }),
  "Data plane, Calls to Redis per second": ratesAtLeast(["operation"], { readAt: 10, pageByCreation: 5 }),
  "Data plane, Failed calls to Redis per second": nothing,
  "Data plane, Latency of Redis, 99th percentile": (samples) => {
    const timed = keyed(samples, ["operation"]);
    for (const operation of ["readAt", "pageByCreation"]) expect(timed[operation]).toBeLessThanOrEqual(10);
  },
  "Data plane, Age of the configuration": within(0, 30, ({ replicas }) => replicas),
  "Data plane, Open streams": within(0, 0, ({ replicas }) => replicas),
  "Data plane, Refused streams": exactly(["limit"], { caller: 0, project: 0, replica: 0 }),
  "Data plane, Projects": within(1, 1, ({ replicas }) => replicas),
  "Data plane, Memory": within(20 * megabyte, 2_000 * megabyte, ({ replicas }) => replicas),

  "Operator, Leaders": one(() => 1),
  "Operator, Live replicas": one(({ replicas }) => replicas),
  "Operator, Objects not Ready": one(() => 0),
  "Operator, Fields refused by replicas": one(() => 0),
  "Operator, From apply to live, p50": durations,
  "Operator, From apply to live, p99": within(0.001, 60),
  // Nothing is deleted while Prometheus watches.
  "Operator, From deletion to refusal, p50": nothing,
  "Operator, From deletion to refusal, p99": nothing,
  "Operator, From deletion to refusal, oldest": within(0, 60),
  "Operator, Publishes, p50": durations,
  "Operator, Publishes, p99": durations,
  "Operator, Fields published, fields": ratesAtLeast([], { "": changes }),
  "Operator, Fields published, failed publishes": one(() => 0),
  "Operator, Objects by Ready, {{status}}": (samples) => {
    const ready = keyed(samples, ["status"]);
    expect([ready.True, ready.False ?? 0, ready.Unknown ?? 0]).toEqual([objects, 0, 0]);
  },
  "Operator, Data kept without being served, Projects": one(() => 0),
  "Operator, Data kept without being served, collections and root keys": one(() => 0),
  "Operator, Reconciles per second": ratesAtLeast(["result"], { success: changes }),
  "Operator, Duration of reconciles, p50": durations,
  "Operator, Duration of reconciles, p99": within(0.000_01, 60),
  "Operator, Queue, waiting": one(() => 0),
  "Operator, Queue, served, statuses waiting": one(() => 0),
  "Operator, Queue, delayed": within(0, 100),
  "Operator, Queue, active workers": one(() => 0),
  "Operator, Waiting time, p99": within(0, 60),
  "Operator, Requests per second": ratesAtLeast(["method", "code"], { "PUT 200": 1 }),
  "Operator, Silence of watches": (samples) => {
    const kinds = samples.map(({ labels }) => labels["kind"]);
    expect(kinds).toEqual(expect.arrayContaining(["Project", "ApiResource", "ProjectUser", "RootKey"]));
    for (const { value } of samples) expect(value).toBeLessThan(300);
  },
  "Operator, Events, written": ratesAtLeast([], { "": 1 }),
  // Only thousands of events about one object, or an API server that refuses them, make these.
  "Operator, Events, dropped: {{why}}": (samples) => {
    for (const { value } of samples) expect(value).toBe(0);
  },
  "Operator, Memory": within(20 * megabyte, 2_000 * megabyte, ({ operators }) => operators),

  // Nobody else stores or asks anything.
  "Usage and cost, Share of stored objects": both(ofNamespace, value(1)),
  "Usage and cost, Share of requests": both(ofNamespace, value(1)),
  "Usage and cost, Stored objects by namespace": both(ofNamespace, value(storedObjects)),
  "Usage and cost, Requests per second by namespace": both(ofNamespace, rate(kvRequests + 5)),
  "Usage and cost, Stored bytes by namespace": both(ofNamespace, within(100, 10_000)),
  "Usage and cost, Logins per second by namespace": both(ofNamespace, rate(1)),
  "Usage and cost, Stored objects by project": both(ofProject, value(storedObjects)),
  "Usage and cost, Requests per second by project": both(ofProject, rate(kvRequests + 5)),
  "Usage and cost, Stored bytes by project": both(ofProject, within(100, 10_000)),
  "Usage and cost, Logins per second by project": both(ofProject, rate(1)),

  // Asked by the team of the namespace.
  "Namespace, Requests per second": both(ofProject, rate(kvRequests + 5)),
  "Namespace, Server errors": nothing,
  "Namespace, Refused requests": rates(["status"], { "404": 5 }),
  "Namespace, Duration, 99th percentile": both(ofProject, durations),
  "Namespace, Requests per second by resource and root key": rates(["resource", "root_key"], {
    "items ": 5,
    " flags": 10,
    " (unknown)": 2,
  }),
  "Namespace, Logins per second": rates(["outcome"], { refused: 1 }),
  "Namespace, Stored objects": both(ofProject, value(storedObjects)),
  "Namespace, Quotas in use": (samples) => {
    const used = keyed(samples, ["project", "kind"]);
    expect(used).toEqual({ "web objects": storedObjects / 1_000, "web bytes": expect.any(Number) });
  },
  "Namespace, Requests beyond a rate": nothing,
  "Namespace, Stalled objects": nothing,
  "Namespace, Invalid stored objects": nothing,
};

/** The check of a query, by panel, or by panel and legend where a panel has several. */
export function impliedOf(dashboard: string, panel: string, legend: string): Check {
  const name = `${dashboard.replace("jsonplane / ", "")}, ${panel}`;
  const check = implied[`${name}, ${legend}`] ?? implied[name];
  if (check === undefined) throw new Error(`Nothing says what ${name}, ${legend} must answer`);
  return check;
}
