// All values of charts/jsonplane, in the order in which they are documented. Its values.yaml, its values.schema.json and docs/values.md
// are made of this.

import { anyObject, choice, flag, group, kubernetes, list, text, texts, type ValueSchema } from "./declare.ts";
import { dataplane, httpRoute, ingress, operator } from "./programs.ts";
import { redis } from "./redis.ts";
import { image } from "./workload.ts";

const port = { type: "integer", minimum: 1, maximum: 65_535 };

const networkPolicy = group(
  "NetworkPolicies: everything that isn't said here is denied. They work where the cluster's network enforces them.",
  {
    enabled: flag("Whether there are any.", true),
    apiFrom: list("Who may reach the API, as NetworkPolicyPeers; empty = everybody.", anyObject),
    metricsFrom: list(
      "Who may reach probes, metrics and usage, which name tenants and tell their traffic, as NetworkPolicyPeers; empty = the pods of the namespace `monitoring`. A node's own probes need no rule.",
      anyObject,
    ),
    apiServerPorts: list(
      "Ports at which the operator may reach the API server, whatever its address; empty = every port. Say the server's own too, such as 6443: most networks look behind the Service's 443.",
      port,
    ),
    dnsPorts: list("Ports at which names are resolved: the usual one, and that of OpenShift's DNS pods.", port, {
      default: [53, 5353],
      minItems: 1,
      uniqueItems: true,
    }),
  },
);

const metrics = group("Observation.", {
  scrapeAnnotations: flag("Annotate the pods with `prometheus.io/scrape`, port and path.", true),
  tokenSecret: group(
    "A token that `/metrics` and `/usage` ask for, as `Authorization: Bearer`; probes stay open. You make the Secret, in the release's namespace; pods follow it when it changes.",
    {
      name: text("Name of the Secret; empty = they ask for none."),
      key: text("Its entry: 16 characters or more of A-Z, a-z, 0-9 and -._~+/, on one line.", "token", {
        minLength: 1,
      }),
    },
  ),
  podMonitor: group("PodMonitor of the Prometheus operator, whose CRDs the cluster needs.", {
    enabled: flag("Whether there is one.", false),
    interval: text("How often it scrapes.", "30s", { pattern: "^[0-9]+(ms|s|m)$" }),
    labels: texts("Further labels, such as those that your Prometheus selects by."),
  }),
  prometheusRule: group("Recording rules and alerts as a PrometheusRule of the Prometheus operator.", {
    enabled: flag("Whether there is one.", false),
    labels: texts("Further labels."),
    runbookURL: text(
      "Where the pages of docs/runbooks are served, such as `https://docs.example.org/runbooks/{alert}.html`: the annotation `runbook_url` of each alert; empty = it has none, and its annotation `runbook` names the page in the repository.",
      "",
      { pattern: "^(https?://[^ ]*[{]alert[}][^ ]*)?$" },
    ),
  }),
  dashboards: group("Grafana dashboards as ConfigMaps, for Grafana's sidecar.", {
    enabled: flag("Whether there are any.", false),
    labels: texts("Labels that the sidecar looks for.", { grafana_dashboard: "1" }),
    annotations: texts("Annotations, such as `grafana_folder`."),
  }),
});

const storage = group("Stored data.", {
  onDataLoss: choice(
    "When Redis no longer holds the data that it held, because its volume was lost or it was emptied: `Refuse` answers requests for data with 503 `data_lost` until a backup is put back or a person accepts the loss; `Serve` goes on with what there is, for a Redis that is meant to forget.",
    "Refuse",
    ["Refuse", "Serve"],
  ),
});

export const chartValues: ValueSchema = group("Values of the chart jsonplane.", {
  image: image("Image of operator and data plane.", "jsonplane", text("Tag; empty = the chart's appVersion.")),
  imagePullSecrets: list("Secrets to pull images with: `[{name: my-registry}]`.", {
    type: "object",
    additionalProperties: false,
    required: ["name"],
    properties: { name: { type: "string", minLength: 1 } },
  }),
  nameOverride: text("In place of the chart's name in names and labels.", "", {
    pattern: "^([a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?)?$",
  }),
  fullnameOverride: text("In place of release and chart name in the names of objects.", "", {
    pattern: "^([a-z]([-a-z0-9]{0,38}[a-z0-9])?)?$",
  }),
  commonLabels: texts("Further labels of every object."),
  publicURL: text(
    "What clients reach the API by, such as `https://api.example.org`: `status.baseURL` and tokens begin with it, and a change ends every session. Empty = the first host of ingress or httpRoute, else the Service's name in the cluster.",
    "",
    { pattern: "^(https?://[^\\s/?#@*]+(/[^\\s?#]*)?)?$" },
  ),
  operator,
  dataplane,
  ingress,
  httpRoute,
  redis,
  storage,
  crds: group("CustomResourceDefinitions.", {
    enabled: flag("Install and upgrade them with the release.", true),
    keep: flag("Keep them, and with them every object, when the release is uninstalled.", true),
  }),
  rbac: group("Rights of the operator, and of people.", {
    create: flag(
      "Make Roles and bindings; else make those of deploy/rbac yourself, and for the bundled Redis `get` and `update` of the Secret of its users.",
      true,
    ),
    userRoles: flag(
      "Add rights to the cluster's own roles `view`, `edit` and `admin`, for people. Needs ClusterRoles, even where the operator has none.",
      true,
    ),
  }),
  networkPolicy,
  metrics,
  enabled: flag("For a parent chart whose `condition` it is; nothing here uses it.", true),
  global: kubernetes("Values that a parent chart gives to all its parts; nothing here uses them."),
});
