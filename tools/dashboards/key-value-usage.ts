// What the specification promises of usage, per project and nothing else: requests of the last
// hour, status codes and mean response time per five minutes over the last hour.

import type { Dashboard } from "./declare.ts";
import { counted, meanSeconds } from "./expressions.ts";

const selector = 'namespace=~"$namespace", project=~"$project"';
const project = ["namespace", "project"];
const window = { back: "1h", step: "5m" };

export const keyValueUsage: Dashboard = {
  uid: "jsonplane-key-value-usage",
  title: "jsonplane / Key/Value usage",
  description:
    "How the key/value documents of each project are used. Each replica shows exact figures of its own at /usage, without Prometheus.",
  variables: [
    { name: "namespace", label: "Namespace", query: "label_values(jsonplane_kv_requests_total, namespace)" },
    {
      name: "project",
      label: "Project",
      query: 'label_values(jsonplane_kv_requests_total{namespace=~"$namespace"}, project)',
    },
  ],
  rows: [
    {
      title: "Usage",
      panels: [
        {
          title: "Requests in the last hour",
          description: "Key/value requests of each project within the last hour, with any status code.",
          kind: "figure",
          unit: "short",
          width: 24,
          queries: [
            {
              expr: `round(${counted({ metric: "jsonplane_kv_requests_total", selector, by: project, window: "1h" })})`,
              legend: "{{namespace}}/{{project}}",
            },
          ],
        },
        {
          title: "Status codes per 5 minutes",
          description:
            "Responses by status code, of all selected projects, in steps of five minutes over the last hour.",
          kind: "bars",
          unit: "short",
          width: 24,
          window,
          queries: [
            {
              expr: `round(${counted({
                metric: "jsonplane_kv_requests_total",
                selector,
                by: [...project, "status"],
                window: "5m",
              })})`,
              legend: "{{namespace}}/{{project}} {{status}}",
            },
          ],
        },
        {
          title: "Mean response time per 5 minutes",
          description:
            "Mean time from a request's headers to the end of its response, in steps of five minutes over the last hour.",
          kind: "lines",
          unit: "s",
          width: 24,
          window,
          queries: [
            {
              expr: meanSeconds({
                metric: "jsonplane_kv_request_duration_seconds",
                selector,
                by: project,
                window: "5m",
              }),
              legend: "{{namespace}}/{{project}}",
            },
          ],
        },
      ],
    },
  ],
};
