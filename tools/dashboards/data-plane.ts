// Rate, errors and duration of the API per project and resource, and what they rest on: Redis,
// logins, configuration, memory.

import { type Dashboard, lines } from "./declare.ts";
import { counted, quantile } from "./expressions.ts";

const selector = 'namespace=~"$namespace", project=~"$project"';
const range = "$__rate_interval";

const requests = (labels: string, metrics: string, more = ""): string =>
  `sum by (${labels}) (rate({__name__=~"${metrics}", ${selector}${more}}[${range}]))`;

const slowest = (labels: string, metrics: string): string =>
  `histogram_quantile(0.99, sum by (le, ${labels}) (rate({__name__=~"${metrics}_request_duration_seconds_bucket", ${selector}}[${range}])))`;

export const dataPlane: Dashboard = {
  uid: "jsonplane-data-plane",
  title: "jsonplane / Data plane",
  description: "Rate, errors and duration of requests by project and resource; logins, Redis and replicas.",
  variables: [
    {
      name: "namespace",
      label: "Namespace",
      query: 'label_values({__name__=~"jsonplane_(kv|api)_requests_total"}, namespace)',
    },
    {
      name: "project",
      label: "Project",
      query: 'label_values({__name__=~"jsonplane_(kv|api)_requests_total", namespace=~"$namespace"}, project)',
    },
  ],
  rows: [
    {
      title: "Projects",
      panels: [
        lines("Requests per second by project", "reqps", "Requests for API Resources and for key/value documents.", [
          {
            expr: requests("namespace, project", "jsonplane_(kv|api)_requests_total"),
            legend: "{{namespace}}/{{project}}",
          },
        ]),
        lines("Server errors by project", "reqps", "Responses with status 500 or higher, per second.", [
          {
            expr: requests("namespace, project, status", "jsonplane_(kv|api)_requests_total", ', status=~"5.."'),
            legend: "{{namespace}}/{{project}} {{status}}",
          },
        ]),
        lines("Requests per second by resource", "reqps", "API Resources.", [
          {
            expr: requests("namespace, project, resource", "jsonplane_api_requests_total"),
            legend: "{{namespace}}/{{project}} {{resource}}",
          },
        ]),
        lines("Requests per second by root key", "reqps", "Key/Value documents.", [
          {
            expr: requests("namespace, project, root_key", "jsonplane_kv_requests_total"),
            legend: "{{namespace}}/{{project}} {{root_key}}",
          },
        ]),
        lines("Server errors by resource and root key", "reqps", "Responses with status 500 or higher, per second.", [
          {
            expr: requests(
              "namespace, project, resource, root_key",
              "jsonplane_(kv|api)_requests_total",
              ', status=~"5.."',
            ),
            legend: "{{namespace}}/{{project}} {{resource}}{{root_key}}",
          },
        ]),
        lines("Duration by project, 99th percentile", "s", "Requests for API Resources and for key/value documents.", [
          { expr: slowest("namespace, project", "jsonplane_(kv|api)"), legend: "{{namespace}}/{{project}}" },
        ]),
        lines("Duration by resource, 99th percentile", "s", "API Resources.", [
          {
            expr: slowest("namespace, project, resource", "jsonplane_api"),
            legend: "{{namespace}}/{{project}} {{resource}}",
          },
        ]),
        lines("Duration by root key, 99th percentile", "s", "Key/Value documents.", [
          {
            expr: slowest("namespace, project, root_key", "jsonplane_kv"),
            legend: "{{namespace}}/{{project}} {{root_key}}",
          },
        ]),
        lines("Status codes", "reqps", "Responses per second by status code, of all selected projects.", [
          { expr: requests("status", "jsonplane_(kv|api)_requests_total"), legend: "{{status}}" },
        ]),
      ],
    },
    {
      title: "Logins and everything else",
      panels: [
        lines(
          "Logins by outcome",
          "short",
          "Login attempts within five minutes. Outcomes: opened, refused, throttled, limited, busy, failed.",
          [
            {
              expr: counted({ metric: "jsonplane_logins_total", selector, by: ["outcome"], window: "5m" }),
              legend: "{{outcome}}",
            },
          ],
        ),
        lines(
          "Password checks",
          "short",
          "Logins whose password is being hashed with argon2, and logins that wait for it.",
          [{ expr: "sum by (state) (jsonplane_password_queue)", legend: "{{state}}" }],
        ),
        lines(
          "Other requests per second",
          "reqps",
          "Requests for sessions, public keys and unknown paths, and malformed requests.",
          [
            {
              expr: `sum by (target, status) (rate(jsonplane_other_requests_total[${range}]))`,
              legend: "{{target}} {{status}}",
            },
          ],
        ),
      ],
    },
    {
      title: "Streams of changes",
      panels: [
        lines("Open streams", "short", "Clients that follow changes, by replica.", [
          { expr: "max by (instance) (jsonplane_change_streams)", legend: "{{instance}}" },
        ]),
        lines(
          "Refused streams",
          "short",
          "Requests for changes refused within five minutes, by whose limit it was: caller, project, replica.",
          [
            {
              expr: counted({
                metric: "jsonplane_change_streams_refused_total",
                selector: "",
                by: ["limit"],
                window: "5m",
              }),
              legend: "{{limit}}",
            },
          ],
        ),
      ],
    },
    {
      title: "Redis and replicas",
      panels: [
        lines("Calls to Redis per second", "ops", "By operation.", [
          {
            expr: `sum by (operation) (rate(jsonplane_store_duration_seconds_count[${range}]))`,
            legend: "{{operation}}",
          },
        ]),
        lines(
          "Failed calls to Redis per second",
          "ops",
          "By outcome: unavailable = the call had no effect; unknown = it may have had one.",
          [
            {
              expr: `sum by (operation, outcome) (rate(jsonplane_store_duration_seconds_count{outcome!="ok"}[${range}]))`,
              legend: "{{operation}} {{outcome}}",
            },
          ],
        ),
        lines("Latency of Redis, 99th percentile", "s", "By operation.", [
          {
            expr: quantile(0.99, {
              metric: "jsonplane_store_duration_seconds",
              selector: "",
              by: ["operation"],
              window: range,
            }),
            legend: "{{operation}}",
          },
        ]),
        lines(
          "Age of the configuration",
          "s",
          "Time since each replica last confirmed that its configuration is current.",
          [{ expr: "max by (instance) (jsonplane_config_age_seconds)", legend: "{{instance}}" }],
        ),
        lines("Projects", "short", "Projects that each replica serves.", [
          { expr: "max by (instance) (jsonplane_projects)", legend: "{{instance}}" },
        ]),
        lines("Memory", "bytes", "Resident memory of each replica.", [
          {
            expr: "process_resident_memory_bytes and on (instance) jsonplane_projects",
            legend: "{{instance}}",
          },
        ]),
      ],
    },
  ],
};
