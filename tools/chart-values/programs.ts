// Values of the two programs, and of how clients come to the data plane.

import { anyObject, choice, count, flag, group, list, text, texts } from "./declare.ts";
import { classPattern, extraEnv, heapPercent, logLevel, placement } from "./workload.ts";

const hostName = {
  type: "string",
  maxLength: 253,
  pattern: "^([*][.])?[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
};

export const operator = group("The operator: turns custom resources into configuration.", {
  replicas: count("Replicas; one leads, the others stand by.", 2, [0, 5]),
  watchNamespaces: list(
    "Namespaces whose objects are served, with rights there alone; they must exist. Empty = all namespaces, with a ClusterRole.",
    { type: "string", pattern: "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$" },
    { uniqueItems: true },
  ),
  className: text(
    "Serve the Projects of this `spec.className`; empty = those without one. Two installations in one cluster need two classes.",
    "",
    { pattern: classPattern },
  ),
  allowedHosts: list(
    "Hosts that namespaces may claim in `spec.hosts`: `shop=shop.example.org`, `*={namespace}.apps.example.org`.",
    { type: "string", pattern: "^[^,=]+=[^,=]+$" },
  ),
  workers: count("Projects reconciled at the same time.", 8, [1, 64]),
  leaseDuration: text("How long a leader that was killed keeps the other replica waiting.", "15s", {
    pattern: "^([0-9]{1,5}[hms]){1,3}$",
  }),
  adoptData: flag(
    "Disaster recovery: let Projects take over data of earlier namespaces of their name, and this installation the Redis and the Projects of another one. Switch it off again afterwards.",
    false,
  ),
  logLevel: logLevel("How much is logged."),
  serviceAccount: group("Its ServiceAccount.", { annotations: texts("Annotations of the ServiceAccount.") }),
  ...placement({ requests: { cpu: "50m", memory: "192Mi" }, limits: { memory: "1Gi" } }),
  heapPercent: heapPercent(70),
  extraEnv,
});

export const dataplane = group("The data plane: serves the API.", {
  replicas: count("Replicas, where autoscaling is off; null = an autoscaler of yours decides.", 2, [0, 1_000]),
  service: group("The Service of the API.", {
    type: choice("Type of the Service.", "ClusterIP", ["ClusterIP", "NodePort", "LoadBalancer"]),
    port: count("Port of the Service.", 80, [1, 65_535]),
    externalTrafficPolicy: choice(
      "Of NodePort and LoadBalancer: `Local` keeps clients' addresses, by which logins are limited; with `Cluster`, the usual one, all come from a node's.",
      "",
      ["", "Cluster", "Local"],
    ),
    annotations: texts("Annotations of the Service, as load balancers of clouds want them."),
  }),
  trustedProxies: list(
    "Addresses or networks of proxies whose X-Forwarded-* headers are believed, such as `10.0.0.0/8`: who logs in too often is told apart by address.",
    { type: "string", pattern: "^[0-9A-Fa-f.:]+(/[0-9]{1,3})?$" },
  ),
  maxProjects: count(
    "Projects that a replica keeps loaded at once; the one unused for longest goes first.",
    1_000,
    [1, 1_000_000],
  ),
  drainSeconds: count(
    "How long a replica that is told to stop still takes requests, until every load balancer has noticed.",
    10,
    [0, 300],
  ),
  logLevel: logLevel("How much is logged; `info` has a line per request."),
  autoscaling: group("HorizontalPodAutoscaler.", {
    enabled: flag("Scale by load; needs metrics-server.", false),
    minReplicas: count("Fewest replicas.", 2, [1, 1_000]),
    maxReplicas: count("Most replicas.", 10, [1, 1_000]),
    targetCPUUtilizationPercentage: count(
      "CPU wanted, in per cent of what `resources.requests.cpu` says: a replica can use a core, so request more than the default then; 0 = don't scale by it.",
      70,
      [0, 1_000],
    ),
    requestsPerSecond: count(
      "Requests per second wanted of each replica, by the metric `jsonplane_http_requests_per_second` of a custom metrics API (docs/observability.md); 0 = don't scale by it.",
      0,
      [0, 1_000_000],
    ),
    scaleDownStabilizationSeconds: count("How long load has to be low before replicas go.", 300, [0, 3_600]),
  }),
  podDisruptionBudget: group("PodDisruptionBudget: how many replicas a drained node may take at once.", {
    enabled: flag("Whether there is one.", true),
    maxUnavailable: {
      description:
        "Replicas, or a part of them such as `25%`: one at least, so that nodes can be drained, and fewer than there are.",
      type: ["integer", "string"],
      minimum: 1,
      pattern: "^([1-9][0-9]?|100)%$",
      default: 1,
    },
  }),
  ...placement({ requests: { cpu: "100m", memory: "160Mi" }, limits: { memory: "512Mi" } }),
  heapPercent: heapPercent(60),
  extraEnv,
});

export const ingress = group("Ingress for the API.", {
  enabled: flag("Whether there is one.", false),
  className: text("IngressClass; empty = the cluster's default."),
  annotations: texts("Annotations of the Ingress."),
  hosts: list("Host names; all of them lead to the data plane.", hostName),
  tls: list("TLS: `[{secretName: api-tls, hosts: [api.example.org]}]`.", anyObject),
});

export const httpRoute = group("HTTPRoute of the Gateway API, whose CRDs the cluster needs.", {
  enabled: flag("Whether there is one.", false),
  annotations: texts("Annotations of the HTTPRoute."),
  parentRefs: list("Gateways: `[{name: public, namespace: gateways}]`.", anyObject),
  hostnames: list("Host names.", hostName),
});
