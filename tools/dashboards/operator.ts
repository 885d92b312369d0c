// The operator at work: reconciles, queue, propagation, the API server, and what there is to see of objects.

import type { Dashboard, Panel } from "./declare.ts";
import { quantile } from "./expressions.ts";

const range = "$__rate_interval";

function lines(title: string, unit: string, description: string, queries: Panel["queries"]): Panel {
  return { title, unit, description, queries, kind: "lines", width: 12 };
}

const p = (part: number, metric: string, by: readonly string[] = []): string =>
  quantile(part, { metric, selector: "", by, window: range });

function figure(title: string, description: string, expr: string): Panel {
  return { title, description, kind: "figure", unit: "short", width: 6, queries: [{ expr, legend: "" }] };
}

export const operator: Dashboard = {
  uid: "jsonplane-operator",
  title: "jsonplane / Operator",
  description: "Reconciles, queue, propagation of changes, leadership and the API server.",
  variables: [],
  rows: [
    {
      title: "Now",
      panels: [
        figure("Leaders", "One, or nobody takes up what is applied.", "sum(leader_election_master_status)"),
        figure("Live replicas", "Of the data plane, by their heartbeats.", "max(jsonplane_replicas_live)"),
        figure(
          "Objects not Ready",
          "kubectl get jsonplane -A says which.",
          'sum(max by (kind) (jsonplane_objects{condition="Ready", status="False"})) or vector(0)',
        ),
        figure("Fields refused by replicas", "The condition Programmed says which.", "max(jsonplane_replica_refusals)"),
      ],
    },
    {
      title: "Propagation",
      panels: [
        lines("From apply to live", "s", "From the arrival of a change until every live replica serves it.", [
          { expr: p(0.5, "jsonplane_apply_to_programmed_seconds"), legend: "half" },
          { expr: p(0.99, "jsonplane_apply_to_programmed_seconds"), legend: "99 of 100" },
        ]),
        lines("Publishes", "s", "Duration of writing one project's changes to Redis.", [
          { expr: p(0.5, "jsonplane_publish_seconds"), legend: "half" },
          { expr: p(0.99, "jsonplane_publish_seconds"), legend: "99 of 100" },
        ]),
        lines("Fields published", "short", "Fields of projects written or removed, a second.", [
          { expr: `sum(rate(jsonplane_publish_fields_total[${range}]))`, legend: "fields" },
          { expr: `sum(rate(jsonplane_publish_errors_total[${range}]))`, legend: "failed publishes" },
        ]),
        lines("Objects by Ready", "short", "Of all kinds.", [
          {
            expr: 'sum by (status) (max by (kind, status) (jsonplane_objects{condition="Ready"}))',
            legend: "{{status}}",
          },
        ]),
        lines(
          "Kept without being served",
          "bytes",
          "Stored JSON of objects and Projects that went; jsonplane data orphans says which.",
          [{ expr: "max(jsonplane_retained_data_bytes)", legend: "measured" }],
        ),
        lines("Projects with kept data", "short", "There or gone; data that no replica has measured yet beside them.", [
          { expr: "max(jsonplane_retained_projects)", legend: "Projects" },
          { expr: 'max(jsonplane_retained_data{measured="false"})', legend: "not measured yet" },
        ]),
      ],
    },
    {
      title: "Reconciles and queue",
      panels: [
        lines("Reconciles per second", "ops", "By result.", [
          { expr: `sum by (result) (rate(controller_runtime_reconcile_total[${range}]))`, legend: "{{result}}" },
        ]),
        lines("Duration of reconciles", "s", "Of one Project with everything that names it.", [
          { expr: p(0.5, "controller_runtime_reconcile_time_seconds"), legend: "half" },
          { expr: p(0.99, "controller_runtime_reconcile_time_seconds"), legend: "99 of 100" },
        ]),
        lines("Queue", "short", "Projects that wait for a worker, or for a moment.", [
          { expr: "sum(workqueue_depth)", legend: "waiting" },
          { expr: "sum(jsonplane_queue_delayed)", legend: "due later" },
          { expr: "sum(controller_runtime_active_workers)", legend: "in work" },
        ]),
        lines("Waiting time", "s", "Until a worker took a Project up.", [
          { expr: p(0.99, "workqueue_queue_duration_seconds"), legend: "99 of 100" },
        ]),
      ],
    },
    {
      title: "API server",
      panels: [
        lines("Requests per second", "reqps", "By method and code.", [
          { expr: `sum by (method, code) (rate(rest_client_requests_total[${range}]))`, legend: "{{method}} {{code}}" },
        ]),
        lines("Silence", "s", "Since the API server was last heard about a kind.", [
          {
            expr: "max by (kind) (time() - (jsonplane_informer_last_activity_timestamp_seconds > 0))",
            legend: "{{kind}}",
          },
        ]),
        lines("Events", "short", "Written, and dropped because there were too many.", [
          { expr: `sum(rate(jsonplane_events_written_total[${range}]))`, legend: "written" },
          { expr: `sum by (why) (rate(jsonplane_events_dropped_total[${range}]))`, legend: "dropped: {{why}}" },
        ]),
        lines("Memory", "bytes", "Resident memory of operators.", [
          {
            expr: "process_resident_memory_bytes and on (instance) leader_election_master_status",
            legend: "{{instance}}",
          },
        ]),
      ],
    },
  ],
};
