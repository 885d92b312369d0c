// What the operator has to do with the API server: calls, watched kinds, the Lease, Events.

import type { Clock } from "../../core/clock.ts";
import type { CallObserved } from "../kube/http-transport.ts";
import type { LeadObservation } from "../lead/lead-observation.ts";
import type { RecordObservation } from "../record/create-event-recorder.ts";
import type { ReflectorObservation } from "../watch/reflector-options.ts";
import type { Instruments, Readings } from "./instruments.ts";

export interface ClusterGauges {
  readonly leads: () => boolean;
  /** Milliseconds since the API server last sent something about each watched kind; undefined = never. */
  readonly informers: () => Iterable<{ readonly kind: string; readonly idleMs: number | undefined }>;
}

export interface ClusterMetrics {
  readonly observeCall: (call: CallObserved) => void;
  readonly observeLead: (observation: LeadObservation) => void;
  readonly observeRecord: (observation: RecordObservation) => void;
  readonly observeReflector: (kind: string) => (observation: ReflectorObservation) => void;
}

export interface ClusterMetricsOptions extends ClusterGauges {
  readonly clock: Clock;
  /** The Lease's. */
  readonly leaseName: string;
}

export function clusterMetrics(instruments: Instruments, options: ClusterMetricsOptions): ClusterMetrics {
  return {
    observeCall: callObserver(instruments),
    observeLead: leadObserver(instruments, options),
    observeRecord: recordObserver(instruments),
    observeReflector: reflectorObserver(instruments, options),
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

function leadObserver(
  { counter, read }: Instruments,
  { leads, leaseName }: ClusterMetricsOptions,
): (observation: LeadObservation) => void {
  const transitions = counter(
    "jsonplane_leader_transitions_total",
    "Times that the Lease was seen with another holder",
  );
  const failures = counter("jsonplane_leader_errors_total", "Calls for the Lease that failed");
  read(
    { name: "leader_election_master_status", help: "1 while this process leads", labels: ["name"] },
    (): Readings => [{ labels: { name: leaseName }, value: leads() ? 1 : 0 }],
  );
  let holder: string | undefined;
  return (observation) => {
    if (observation.kind === "failed" || observation.kind === "release_failed") failures.inc();
    // A Lease without a holder is on its way to the next one.
    if (observation.kind !== "holder" || observation.holder === "") return;
    if (holder !== undefined && holder !== observation.holder) transitions.inc();
    holder = observation.holder;
  };
}

function recordObserver({ counter }: Instruments): (observation: RecordObservation) => void {
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

function reflectorObserver(
  { counter, read }: Instruments,
  { informers, clock }: ClusterMetricsOptions,
): (kind: string) => (observation: ReflectorObservation) => void {
  read(
    {
      name: "jsonplane_informer_last_activity_timestamp_seconds",
      help: "When the API server last sent something of the kind; 0 = never",
      labels: ["kind"],
    },
    () =>
      Array.from(informers(), ({ kind, idleMs }) => ({
        labels: { kind },
        value: idleMs === undefined ? 0 : (clock.now() - idleMs) / 1000,
      })),
  );
  const of = (name: string, help: string) => counter(`jsonplane_informer_${name}_total`, help, ["kind"]);
  const counters = {
    listed: of("lists", "Complete lists taken over"),
    watching: of("watches", "Watches begun"),
    failed: of("errors", "Lists and watches that failed; another follows"),
    gone: of("gone", "Watches that the API server could not go on with (410); a list follows"),
    silent: of("silences", "Watches replaced because nothing came for too long"),
    compared: of("comparisons", "Comparisons with the API server's versions, by a process that came to lead"),
    sinkFailed: of("sink_errors", "Changes that the operator failed to take note of: a fault in it"),
  };
  const differences = of("differences", "Objects that a later list had otherwise, and that no watch had reported");
  return (kind) => {
    for (const each of [...Object.values(counters), differences]) each.inc({ kind }, 0);
    return (observation) => {
      counters[observation.what].inc({ kind });
      if (observation.what === "listed" && !observation.first) differences.inc({ kind }, observation.differences);
    };
  };
}
