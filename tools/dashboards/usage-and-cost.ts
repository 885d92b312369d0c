// What namespaces and their projects use, so that a platform can share out costs:
// docs/how-to/share-out-costs.md.

import { type Dashboard, lines, type Panel } from "./declare.ts";

const range = "$__rate_interval";
const namespaces = 'namespace=~"$namespace"';
const projects = `${namespaces}, project=~"$project"`;
/** Of thousands, Grafana can't draw more. */
const maxLines = 25;

type By = "namespace" | "namespace, project";

/**
 * Of a former leader that may still be scraped, and of several replicas, the largest figure is
 * right.
 */
const objects = (by: By, selector: string): string =>
  `sum by (${by}) (max by (namespace, project) (jsonplane_stored_objects{${selector}}))`;

const bytes = (by: By, selector: string): string =>
  `sum by (${by}) (max by (namespace, project) (jsonplane_project_usage{kind="bytes", ${selector}}))`;

const requests = (by: By, selector: string): string =>
  `sum by (${by}) (rate({__name__=~"jsonplane_(kv|api)_requests_total", ${selector}}[${range}]))`;

const logins = (by: By, selector: string): string =>
  `sum by (${by}) (rate(jsonplane_logins_total{${selector}}[${range}]))`;

const shareOf = (figure: typeof objects): string =>
  `${figure("namespace", namespaces)} / scalar(sum(${figure("namespace", "")}))`;

function byNamespace(title: string, unit: string, description: string, expr: string): Panel {
  return lines(title, unit, description, [{ expr: `topk(${maxLines}, ${expr})`, legend: "{{namespace}}" }]);
}

function byProject(title: string, unit: string, description: string, expr: string): Panel {
  return lines(title, unit, description, [{ expr: `topk(${maxLines}, ${expr})`, legend: "{{namespace}}/{{project}}" }]);
}

export const usageAndCost: Dashboard = {
  uid: "jsonplane-usage-and-cost",
  title: "jsonplane / Usage and cost",
  description: `What each namespace and project stores, and how many requests it gets. Each panel shows the ${maxLines} largest.`,
  variables: [
    {
      name: "namespace",
      label: "Namespace",
      query: 'label_values({__name__=~"jsonplane_stored_objects|jsonplane_(kv|api)_requests_total"}, namespace)',
    },
    {
      name: "project",
      label: "Project",
      query:
        'label_values({__name__=~"jsonplane_stored_objects|jsonplane_(kv|api)_requests_total", namespace=~"$namespace"}, project)',
    },
  ],
  rows: [
    {
      title: "By namespace",
      panels: [
        byNamespace(
          "Share of stored objects",
          "percentunit",
          "Part of all stored objects of the installation, whichever namespaces are selected.",
          shareOf(objects),
        ),
        byNamespace(
          "Share of requests",
          "percentunit",
          "Part of all requests for objects and key/value documents, whichever namespaces are selected.",
          shareOf(requests),
        ),
        byNamespace(
          "Stored objects by namespace",
          "short",
          "Objects of all ApiResources, counted about once a minute.",
          objects("namespace", namespaces),
        ),
        byNamespace(
          "Requests per second by namespace",
          "reqps",
          "Requests for API Resources and for key/value documents.",
          requests("namespace", namespaces),
        ),
        byNamespace(
          "Stored bytes by namespace",
          "bytes",
          "Bytes of stored JSON, of Projects with a quota of bytes.",
          bytes("namespace", namespaces),
        ),
        byNamespace(
          "Logins per second by namespace",
          "reqps",
          "Logins with any outcome; checking a password costs more than other requests.",
          logins("namespace", namespaces),
        ),
      ],
    },
    {
      title: "By project",
      panels: [
        byProject(
          "Stored objects by project",
          "short",
          "Objects of all ApiResources of a Project, counted about once a minute.",
          objects("namespace, project", projects),
        ),
        byProject(
          "Requests per second by project",
          "reqps",
          "Requests for API Resources and for key/value documents.",
          requests("namespace, project", projects),
        ),
        byProject(
          "Stored bytes by project",
          "bytes",
          "Bytes of stored JSON, of Projects with a quota of bytes.",
          bytes("namespace, project", projects),
        ),
        byProject(
          "Logins per second by project",
          "reqps",
          "Logins with any outcome; checking a password costs more than other requests.",
          logins("namespace, project", projects),
        ),
      ],
    },
  ],
};
