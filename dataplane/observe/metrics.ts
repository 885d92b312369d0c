// The Prometheus metrics of a replica. Labels come from the configuration or a closed list, so no
// request can make a new series; unknown names count as `(unknown)`. Series of requests are counted
// with one addition, and prom-client writes them out: its own counters hash all labels at each
// observation, which took a seventh of a small request.

import { Counter, Gauge, type Metric, Registry } from "prom-client";
import type { ProjectRef } from "../../core/config/types.ts";
import type { SweepObservation } from "../expiry/sweep.ts";
import type { ClosedFor } from "../http/connections.ts";
import type { UsageReport } from "../quotas/quotas.ts";
import type { AuthenticationObservation } from "../sessions/open-session.ts";
import type { StoreEngine, StoreObservation } from "../store/port.ts";
import { expiryObserver } from "./expiry-metrics.ts";
import { registerQuotaGauges } from "./quota-metrics.ts";

const secondsBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

interface Gauges {
  configAgeSeconds(): number;
  projects(): number;
  keyringFits(): boolean;
  usageReports(): readonly UsageReport[];
  /** Undefined where it is unknown, and in dev mode. */
  storeEngine(): StoreEngine | undefined;
  /** Streams of changes that are open. */
  streams(): number;
}

export interface Metrics extends RequestMetrics {
  readonly registry: Registry;
  readonly observeAuthentication: (observation: AuthenticationObservation) => void;
  readonly observeStore: (observation: StoreObservation) => void;
  /** A request was refused because of its project's own or its caller's rate. */
  readonly observeLimited: (project: ProjectRef, limit: "project" | "caller") => void;
  readonly observeClosed: (reason: ClosedFor) => void;
  /** A client could not follow changes, because so many do. */
  readonly observeRefusedStream: (limit: "caller" | "project" | "replica") => void;
  /** A collection was looked at for objects that have expired. */
  readonly observeSweep: (observation: SweepObservation) => void;
}

interface RequestMetrics {
  readonly rootKeyRequests: CounterTally<"namespace" | "project" | "root_key" | "method" | "status">;
  readonly rootKeySeconds: HistogramTally<"namespace" | "project" | "root_key">;
  readonly apiRequests: CounterTally<"namespace" | "project" | "resource" | "method" | "status">;
  readonly apiSeconds: HistogramTally<"namespace" | "project" | "resource">;
  readonly otherRequests: CounterTally<"target" | "method" | "status">;
  readonly otherSeconds: HistogramTally<"target">;
}

/** Metrics on a registry of their own; `gauges` are read when Prometheus asks. */
export function createMetrics(gauges: Gauges): Metrics {
  const registry = new Registry();
  registerGauges(registry, gauges);
  registerStoreInfo(registry, gauges.storeEngine);
  registerQuotaGauges(registry, gauges.usageReports);
  return {
    registry,
    ...requestMetrics(registry),
    observeAuthentication: authenticationObserver(registry),
    observeStore: storeObserver(registry),
    observeLimited: limitObserver(registry),
    observeClosed: closedObserver(registry),
    observeRefusedStream: refusedStreamObserver(registry),
    observeSweep: expiryObserver(registry),
  };
}

function registerGauges(registry: Registry, gauges: Gauges): void {
  const gauge = (name: string, help: string, read: () => number): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  };
  gauge(
    "jsonplane_config_age_seconds",
    "Seconds since the configuration was last known to be current",
    gauges.configAgeSeconds,
  );
  gauge("jsonplane_projects", "Projects that this replica serves", gauges.projects);
  gauge(
    "jsonplane_keyring_fits",
    "1 while the configuration is sealed with this replica's key ring, 0 while it is another one's",
    () => (gauges.keyringFits() ? 1 : 0),
  );
  gauge("jsonplane_change_streams", "Streams of changes that are open", gauges.streams);
  gauge("process_resident_memory_bytes", "Resident memory of the process", () => process.memoryUsage.rss());
  gauge(
    "process_start_time_seconds",
    "When the process started, in Unix seconds; distinguishes requests before a first scrape from old ones",
    () => performance.timeOrigin / 1000,
  );
}

function registerStoreInfo(registry: Registry, storeEngine: Gauges["storeEngine"]): void {
  new Gauge({
    name: "jsonplane_store_info",
    help: "1: the server and the JSON module that hold stored data, with their versions, and whether the tests run on this combination",
    labelNames: ["server", "version", "json", "json_version", "tested"],
    registers: [registry],
    collect() {
      this.reset();
      const engine = storeEngine();
      if (engine === undefined) return;
      const { name: server, version, json, jsonVersion, tested } = engine;
      this.set({ server, version, json, json_version: jsonVersion, tested: String(tested) }, 1);
    },
  });
}

function countersOn(registry: Registry) {
  return (name: string, help: string, labelNames: readonly string[]) =>
    new Counter<string>({ name, help, labelNames: [...labelNames], registers: [registry] });
}

function requestMetrics(registry: Registry): RequestMetrics {
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new CounterTally({ name, help, labelNames, registers });
  const seconds = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new HistogramTally({ name, help, labelNames, registers, buckets: secondsBuckets });
  return {
    rootKeyRequests: counter(
      "jsonplane_kv_requests_total",
      "Key/Value requests by root key and status; root keys that the project does not have count as (unknown)",
      ["namespace", "project", "root_key", "method", "status"],
    ),
    rootKeySeconds: seconds(
      "jsonplane_kv_request_duration_seconds",
      "Duration of Key/Value requests by root key, from the request's headers to its answer's end",
      ["namespace", "project", "root_key"],
    ),
    apiRequests: counter(
      "jsonplane_api_requests_total",
      "API Resource requests by resource and status; resources that the project does not have count as (unknown)",
      ["namespace", "project", "resource", "method", "status"],
    ),
    apiSeconds: seconds("jsonplane_api_request_duration_seconds", "Duration of API Resource requests by resource", [
      "namespace",
      "project",
      "resource",
    ]),
    otherRequests: counter(
      "jsonplane_other_requests_total",
      "Requests for sessions, keys and descriptions (openapi, docs), for unknown projects or paths, and malformed requests, by status",
      ["target", "method", "status"],
    ),
    otherSeconds: seconds(
      "jsonplane_other_request_duration_seconds",
      "Duration of those requests, argon2 of logins included",
      ["target"],
    ),
  };
}

function authenticationObserver(registry: Registry): (observation: AuthenticationObservation) => void {
  const counter = countersOn(registry);
  const logins = counter(
    "jsonplane_logins_total",
    "Logins by outcome (opened, refused, throttled = after too many failures, limited = the project has its maximum of sessions, busy, failed)",
    ["namespace", "project", "outcome"],
  );
  const refreshes = counter(
    "jsonplane_session_refreshes_total",
    "Refreshes of access tokens by outcome (refreshed, refused, failed)",
    ["namespace", "project", "outcome"],
  );
  const ended = counter("jsonplane_sessions_ended_total", "Sessions ended by a request", ["namespace", "project"]);
  const refundsFailed = counter(
    "jsonplane_login_refunds_failed_total",
    "Successful logins that still count against their address, because the store did not answer",
    [],
  );
  const queue = new Gauge({
    name: "jsonplane_password_queue",
    help: "Logins in argon2 (running) and before it (waiting)",
    labelNames: ["state"],
    registers: [registry],
  });
  return (observation) => {
    switch (observation.kind) {
      case "login":
        logins.inc({ ...labelsOf(observation.project), outcome: observation.outcome });
        break;
      case "refresh":
        refreshes.inc({ ...labelsOf(observation.project), outcome: observation.outcome });
        break;
      case "session_ended":
        ended.inc(labelsOf(observation.project));
        break;
      case "refund_failed":
        refundsFailed.inc();
        break;
      case "password_queue":
        queue.set({ state: "running" }, observation.running);
        queue.set({ state: "waiting" }, observation.waiting);
        break;
    }
  };
}

function limitObserver(registry: Registry): Metrics["observeLimited"] {
  const limited = new CounterTally({
    name: "jsonplane_rate_limited_total",
    help: "Requests refused with 429 rate_limited, by whose rate it was (project, caller)",
    labelNames: ["namespace", "project", "limit"],
    registers: [registry],
  });
  return (project, limit) => limited.series({ ...labelsOf(project), limit }).increment();
}

function closedObserver(registry: Registry): Metrics["observeClosed"] {
  const closed = countersOn(registry)(
    "jsonplane_connections_closed_total",
    "Connections closed to save memory, by reason: too_many = beyond the limit, pipelined = too many requests waited on them, unread = the client did not read its response",
    ["reason"],
  );
  return (reason) => closed.inc({ reason });
}

function refusedStreamObserver(registry: Registry): Metrics["observeRefusedStream"] {
  const refused = countersOn(registry)(
    "jsonplane_change_streams_refused_total",
    "Requests for changes refused because so many were followed, by whose limit it was (caller, project, replica)",
    ["limit"],
  );
  // An alert compares them with what was: they are there from the start.
  for (const limit of ["caller", "project", "replica"]) refused.inc({ limit }, 0);
  return (limit) => refused.inc({ limit });
}

function storeObserver(registry: Registry): (observation: StoreObservation) => void {
  const seconds = new HistogramTally({
    name: "jsonplane_store_duration_seconds",
    help: "Duration of calls to the store by operation and outcome (ok, unavailable, unknown, error)",
    labelNames: ["operation", "outcome"],
    buckets: secondsBuckets,
    registers: [registry],
  });
  const ok = new Map<string, HistogramSeries>();
  return function observeStore({ operation, outcome, seconds: duration }) {
    let series = outcome === "ok" ? ok.get(operation) : undefined;
    if (series === undefined) {
      series = seconds.series({ operation, outcome });
      if (outcome === "ok") ok.set(operation, series);
    }
    series.observe(duration);
  };
}

function labelsOf(project: ProjectRef): { namespace: string; project: string } {
  return { namespace: project.namespace, project: project.name };
}

type Labels<L extends string> = Readonly<Record<L, string | number>>;

interface Value {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly metricName?: string;
}

interface TallyOptions<L extends string> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly L[];
  readonly registers: readonly Registry[];
}

/** What a registry asks of a metric. Code that counts often keeps the series. */
abstract class Tally<L extends string, S> {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly L[];
  readonly aggregator = "sum";
  abstract readonly type: "counter" | "histogram";
  readonly #series = new Map<string, S>();

  constructor({ name, help, labelNames, registers }: TallyOptions<L>) {
    this.name = name;
    this.help = help;
    this.labelNames = labelNames;
    // prom-client's types name its own classes only.
    for (const registry of registers) registry.registerMetric(this as unknown as Metric);
  }

  /** The one series of these labels. */
  series(labels: Labels<L>): S {
    const key = JSON.stringify(this.labelNames.map((name) => labels[name]));
    let series = this.#series.get(key);
    if (series === undefined) {
      series = this.begin(labels);
      this.#series.set(key, series);
    }
    return series;
  }

  async get() {
    const { name, help, type, aggregator } = this;
    return {
      name,
      help,
      type,
      aggregator,
      values: [...this.#series.values()].flatMap((series) => this.values(series)),
    };
  }

  protected abstract begin(labels: Labels<L>): S;
  protected abstract values(series: S): readonly Value[];
}

export class CounterSeries {
  readonly labels: Value["labels"];
  value = 0;

  constructor(labels: Value["labels"]) {
    this.labels = labels;
  }

  increment(): void {
    this.value += 1;
  }
}

export class CounterTally<L extends string> extends Tally<L, CounterSeries> {
  readonly type = "counter";

  protected begin(labels: Labels<L>): CounterSeries {
    return new CounterSeries(labels);
  }

  protected values({ labels, value }: CounterSeries): readonly Value[] {
    return [{ labels, value }];
  }
}

export class HistogramSeries {
  readonly labels: Value["labels"];
  readonly #bounds: readonly number[];
  /**
   * Observations up to each bound and above the one before. The last count is of those above all.
   */
  readonly #counts: number[];
  #sum = 0;

  constructor(labels: Value["labels"], bounds: readonly number[]) {
    this.labels = labels;
    this.#bounds = bounds;
    this.#counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let at = 0;
    while (at < bounds.length && value > (bounds[at] as number)) at += 1;
    this.#counts[at] = (this.#counts[at] as number) + 1;
    this.#sum += value;
  }

  /** As Prometheus wants them: each bucket includes the smaller ones. */
  values(name: string): readonly Value[] {
    let count = 0;
    const buckets = this.#counts.map((own, at) => {
      count += own;
      return { metricName: `${name}_bucket`, labels: { le: this.#bounds[at] ?? "+Inf", ...this.labels }, value: count };
    });
    const sum = { metricName: `${name}_sum`, labels: this.labels, value: this.#sum };
    return [...buckets, sum, { metricName: `${name}_count`, labels: this.labels, value: count }];
  }
}

export class HistogramTally<L extends string> extends Tally<L, HistogramSeries> {
  readonly type = "histogram";
  readonly #bounds: readonly number[];

  /** `buckets`: upper bounds, ascending. */
  constructor(options: TallyOptions<L> & { readonly buckets: readonly number[] }) {
    super(options);
    this.#bounds = options.buckets;
  }

  protected begin(labels: Labels<L>): HistogramSeries {
    return new HistogramSeries(labels, this.#bounds);
  }

  protected values(series: HistogramSeries): readonly Value[] {
    return series.values(this.name);
  }
}
