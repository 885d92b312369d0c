// The operator at work: reconciles, queue, propagation, the API server, and what there is to see of
// objects.

import { type Dashboard, lines, type Panel } from "./declare.ts";
import { quantile } from "./expressions.ts";

const range = "$__rate_interval";

const p = (part: number, metric: string, by: readonly string[] = [], selector = ""): string =>
  quantile(part, { metric, selector, by, window: range });

function figure(title: string, description: string, expr: string): Panel {
  return { title, description, kind: "figure", unit: "short", width: 6, queries: [{ expr, legend: "" }] };
}

export const operator: Dashboard = {
  uid: "jsonplane-operator",
  title: "jsonplane / Operator",
  description: "Leadership, propagation of changes, reconciles, queue and requests to the API server.",
  variables: [],
  rows: [
    {
      title: "Now",
      panels: [
        figure("Leaders", "Must be 1. With 0, no operator processes changes.", "sum(leader_election_master_status)"),
        figure("Live replicas", "Data-plane replicas that send heartbeats.", "max(jsonplane_replicas_live)"),
        figure(
          "Objects not Ready",
          "kubectl get jsonplane -A says which.",
          'sum(max by (kind) (jsonplane_objects{condition="Ready", status="False"})) or vector(0)',
        ),
        figure(
          "Fields refused by replicas",
          "Configuration that a replica could not load. The condition Programmed names it.",
          "max(jsonplane_replica_refusals)",
        ),
      ],
    },
    {
      title: "Propagation",
      panels: [
        lines(
          "From apply to live",
          "s",
          "Time from the arrival of a change at the operator until every live replica serves it.",
          [
            { expr: p(0.5, "jsonplane_apply_to_programmed_seconds"), legend: "p50" },
            { expr: p(0.99, "jsonplane_apply_to_programmed_seconds"), legend: "p99" },
          ],
        ),
        lines(
          "From deletion to refusal",
          "s",
          "Time from the arrival of a deletion, or of lowered access, until every live replica has acknowledged it, and the age of the oldest that waits.",
          [
            { expr: p(0.5, "jsonplane_revocation_seconds"), legend: "p50" },
            { expr: p(0.99, "jsonplane_revocation_seconds"), legend: "p99" },
            { expr: "max(jsonplane_revocation_waiting_seconds)", legend: "oldest" },
          ],
        ),
        lines("Publishes", "s", "Time to write the changes of one project to Redis.", [
          { expr: p(0.5, "jsonplane_publish_seconds"), legend: "p50" },
          { expr: p(0.99, "jsonplane_publish_seconds"), legend: "p99" },
        ]),
        lines("Fields published", "short", "Fields of the configuration that were written or removed, per second.", [
          { expr: `sum(rate(jsonplane_publish_fields_total[${range}]))`, legend: "fields" },
          { expr: `sum(rate(jsonplane_publish_errors_total[${range}]))`, legend: "failed publishes" },
        ]),
        lines("Objects by Ready", "short", "All kinds together, by the status of their condition Ready.", [
          {
            expr: 'sum by (status) (max by (kind, status) (jsonplane_objects{condition="Ready"}))',
            legend: "{{status}}",
          },
        ]),
        lines(
          "Data kept without being served",
          "short",
          "What is kept of deleted objects and Projects. `jsonplane data orphans` lists it.",
          [
            { expr: "max(jsonplane_retained_projects)", legend: "Projects" },
            { expr: "max(jsonplane_retained_data)", legend: "collections and root keys" },
          ],
        ),
      ],
    },
    {
      title: "Reconciles and queue",
      panels: [
        lines("Reconciles per second", "ops", "Reconciles by result.", [
          {
            expr: `sum by (result) (rate(controller_runtime_reconcile_total{controller="project"}[${range}]))`,
            legend: "{{result}}",
          },
        ]),
        lines("Duration of reconciles", "s", "One reconcile covers a Project and every object that refers to it.", [
          { expr: p(0.5, "controller_runtime_reconcile_time_seconds", [], 'controller="project"'), legend: "p50" },
          { expr: p(0.99, "controller_runtime_reconcile_time_seconds", [], 'controller="project"'), legend: "p99" },
        ]),
        lines("Queue", "short", "Projects that wait for a worker, or for their time to be retried.", [
          { expr: 'sum(workqueue_depth{name="project"})', legend: "waiting" },
          { expr: 'sum(workqueue_depth{name="project-status"})', legend: "served, statuses waiting" },
          { expr: "sum(jsonplane_queue_delayed)", legend: "delayed" },
          { expr: "sum(controller_runtime_active_workers)", legend: "active workers" },
        ]),
        lines("Waiting time", "s", "Time that a Project waited in the queue.", [
          { expr: p(0.99, "workqueue_queue_duration_seconds", [], 'name="project"'), legend: "p99" },
        ]),
      ],
    },
    {
      title: "API server",
      panels: [
        lines("Requests per second", "reqps", "Requests to the API server by method and status code.", [
          { expr: `sum by (method, code) (rate(rest_client_requests_total[${range}]))`, legend: "{{method}} {{code}}" },
        ]),
        lines("Silence of watches", "s", "Time since the last message from the API server about each kind.", [
          {
            expr: "max by (kind) (time() - (jsonplane_informer_last_activity_timestamp_seconds > 0))",
            legend: "{{kind}}",
          },
        ]),
        lines(
          "Events",
          "short",
          "Events that were written, and Events that were dropped because there were too many.",
          [
            { expr: `sum(rate(jsonplane_events_written_total[${range}]))`, legend: "written" },
            { expr: `sum by (why) (rate(jsonplane_events_dropped_total[${range}]))`, legend: "dropped: {{why}}" },
          ],
        ),
        lines("Memory", "bytes", "Resident memory of each operator.", [
          {
            expr: "process_resident_memory_bytes and on (instance) leader_election_master_status",
            legend: "{{instance}}",
          },
        ]),
      ],
    },
  ],
};
