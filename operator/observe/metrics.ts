// Every Prometheus metric of the operator, on a registry of its own, and the observers that feed
// them. docs/reference/ operator-metrics.md lists them.

import { Registry } from "prom-client";
import type { Clock } from "../../core/clock.ts";
import type { EventObservation } from "../events/event-recorder.ts";
import type { CallObserved } from "../kube/http-transport.ts";
import { type ConfigGauges, type ConfigObservation, configMetrics } from "./config-metrics.ts";
import { type Instruments, instrumentsOn } from "./instruments.ts";
import { type WorkGauges, type WorkMetrics, workMetrics } from "./work-metrics.ts";

/**
 * The functions are called when Prometheus asks, so they may read what is made later than the
 * metrics.
 */
export interface OperatorMetricsOptions extends ConfigGauges, WorkGauges {
  readonly clock: Clock;
  /** The Lease's. */
  readonly leaseName: string;
  readonly leads: () => boolean;
  /**
   * Milliseconds since the API server last sent something about each watched kind; undefined =
   * never.
   */
  readonly informers: () => Iterable<{ readonly kind: string; readonly idleMs: number | undefined }>;
}

export interface OperatorMetrics extends WorkMetrics {
  readonly registry: Registry;
  readonly observeCall: (call: CallObserved) => void;
  readonly observeEvent: (observation: EventObservation) => void;
  /** A list or watch of the kind failed. */
  readonly observeInformerError: (kind: string) => void;
  readonly observeConfig: (observation: ConfigObservation) => void;
}

export function createOperatorMetrics(options: OperatorMetricsOptions): OperatorMetrics {
  const registry = new Registry();
  const instruments = instrumentsOn(registry);
  instruments.gauge("process_resident_memory_bytes", "Resident memory of the process", process.memoryUsage.rss);
  return {
    registry,
    ...workMetrics(instruments, options),
    observeCall: callObserver(instruments),
    observeEvent: eventObserver(instruments),
    observeInformerError: clusterMetrics(instruments, options),
    observeConfig: configMetrics(instruments, options),
  };
}

function callObserver({ counter, seconds }: Instruments): (call: CallObserved) => void {
  const requests = counter(
    "rest_client_requests_total",
    "Requests to the API server; the code is `<error>` when no answer came",
    ["code", "method", "host"],
  );
  const duration = seconds(
    "rest_client_request_duration_seconds",
    "Duration of those requests; of a watch, until it began",
    ["verb", "host"],
  );
  return ({ code, method, host, verb, seconds: taken }) => {
    requests.inc({ code, method, host });
    duration.observe({ verb, host }, taken);
  };
}

function eventObserver({ counter }: Instruments): (observation: EventObservation) => void {
  const written = counter("jsonplane_events_written_total", "Events written or counted up at the API server");
  const dropped = counter(
    "jsonplane_events_dropped_total",
    "Events nobody sees: limit (too many about one object), rate (too many Normal ones), full (too many wait), failed, stopped",
    ["why"],
  );
  for (const why of ["limit", "rate", "full", "failed", "stopped"]) dropped.inc({ why }, 0);
  return (observation) => {
    if (observation.kind === "written") written.inc();
    else dropped.inc({ why: observation.why });
  };
}

function clusterMetrics(
  { counter, gauges }: Instruments,
  { leads, leaseName, informers, clock }: OperatorMetricsOptions,
): (kind: string) => void {
  gauges("leader_election_master_status", "1 while this process leads", ["name"], () => [
    { labels: { name: leaseName }, value: leads() ? 1 : 0 },
  ]);
  gauges(
    "jsonplane_informer_last_activity_timestamp_seconds",
    "When the API server last sent something of the kind; 0 = never",
    ["kind"],
    () =>
      Array.from(informers(), ({ kind, idleMs }) => ({
        labels: { kind },
        value: idleMs === undefined ? 0 : (clock.now() - idleMs) / 1000,
      })),
  );
  const errors = counter("jsonplane_informer_errors_total", "Lists and watches that failed; another follows", ["kind"]);
  return (kind) => errors.inc({ kind });
}
