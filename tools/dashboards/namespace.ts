// What the team of a namespace sees of its projects. Queries name no namespace: the data source
// adds it to each metric (docs/observability.md), so they use no metric that lacks the label.

import { type Dashboard, lines } from "./declare.ts";

const range = "$__rate_interval";
const selector = 'project=~"$project"';
const requestsTotal = '__name__=~"jsonplane_(kv|api)_requests_total"';
const project = "namespace, project";
const legend = "{{namespace}}/{{project}}";

const requests = (by: string, more = ""): string =>
  `sum by (${by}) (rate({${requestsTotal}, ${selector}${more}}[${range}]))`;

const largest = (by: string, metric: string, matchers = selector): string => `max by (${by}) (${metric}{${matchers}})`;

export const namespace: Dashboard = {
  uid: "jsonplane-namespace",
  title: "jsonplane / Namespace",
  description:
    "Requests, quotas and faults of the projects of one namespace. Choose a data source that is limited to the namespace: with another one, all namespaces are shown.",
  variables: [
    {
      name: "project",
      label: "Project",
      query: 'label_values({__name__=~"jsonplane_stored_objects|jsonplane_(kv|api)_requests_total"}, project)',
    },
  ],
  rows: [
    {
      title: "Requests",
      panels: [
        lines("Requests per second", "reqps", "Requests for API Resources and for key/value documents.", [
          { expr: requests(project), legend },
        ]),
        lines("Server errors", "reqps", "Responses with status 500 or higher, per second.", [
          { expr: requests(`${project}, status`, ', status=~"5.."'), legend: `${legend} {{status}}` },
        ]),
        lines(
          "Refused requests",
          "reqps",
          "Responses with status 400 to 499, per second; 429 is a limit, and quotas answer 403.",
          [{ expr: requests(`${project}, status`, ', status=~"4.."'), legend: `${legend} {{status}}` }],
        ),
        lines("Duration, 99th percentile", "s", "From a request's headers to the end of its response.", [
          {
            expr: `histogram_quantile(0.99, sum by (le, ${project}) (rate({__name__=~"jsonplane_(kv|api)_request_duration_seconds_bucket", ${selector}}[${range}])))`,
            legend,
          },
        ]),
        lines(
          "Requests per second by resource and root key",
          "reqps",
          "Names that the project does not have are (unknown).",
          [{ expr: requests(`${project}, resource, root_key`), legend: `${legend} {{resource}}{{root_key}}` }],
        ),
        lines("Logins per second", "reqps", "Logins by outcome: opened, refused, throttled, limited, busy, failed.", [
          {
            expr: `sum by (${project}, outcome) (rate(jsonplane_logins_total{${selector}}[${range}]))`,
            legend: `${legend} {{outcome}}`,
          },
        ]),
      ],
    },
    {
      title: "Storage and limits",
      panels: [
        lines("Stored objects", "short", "Objects of all ApiResources of a Project, counted about once a minute.", [
          { expr: largest(project, "jsonplane_stored_objects"), legend },
        ]),
        lines("Quotas in use", "percentunit", "Part of each quota that is used. At 100 % writes answer 403.", [
          {
            expr: `${largest(`${project}, kind`, "jsonplane_project_usage")} / ${largest(`${project}, kind`, "jsonplane_project_quota")}`,
            legend: `${legend} {{kind}}`,
          },
        ]),
        lines(
          "Requests beyond a rate",
          "reqps",
          "Requests that the project's rate, or the rate of one caller, refused with 429.",
          [
            {
              expr: `sum by (${project}, limit) (rate(jsonplane_rate_limited_total{${selector}}[${range}]))`,
              legend: `${legend} {{limit}}`,
            },
          ],
        ),
      ],
    },
    {
      title: "What needs a person",
      panels: [
        lines("Stalled objects", "short", "Objects that are refused until somebody changes them, by reason.", [
          {
            expr: largest("namespace, kind, reason", "jsonplane_stalled_objects", ""),
            legend: "{{namespace}} {{kind}} {{reason}}",
          },
        ]),
        lines("Invalid stored objects", "short", "Stored objects that don't meet the schema of their ApiResource.", [
          { expr: largest("namespace", "jsonplane_invalid_stored_objects", ""), legend: "{{namespace}}" },
        ]),
      ],
    },
  ],
};
