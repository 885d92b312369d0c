// Values in odd company: labels given twice, hosts that are no URL, sizes that an autoscaler can't
// use.

import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import type { JsonObject } from "../../core/config/types.ts";
import { findHelm } from "../../tools/parts/helm.ts";
import { caseFile, chart, objectsIn, render } from "../support/chart/helm.ts";

let helm: string;

beforeAll(async () => {
  helm = await findHelm(process.env);
});

const json = (path: string, value: unknown): readonly string[] => ["--set-json", `${path}=${JSON.stringify(value)}`];

async function textOf(...args: readonly string[]): Promise<string> {
  const { code, text, complaint } = await render(helm, args);
  expect([code, complaint]).toEqual([0, ""]);
  return text;
}

interface Labelled {
  readonly metadata: { readonly labels: JsonObject; readonly annotations?: JsonObject };
  readonly spec: { readonly template: Labelled; readonly nodeSelector?: JsonObject; readonly tolerations?: unknown };
}

const named = (text: string, kind: string, name: string): Labelled =>
  objectsIn(text).find(
    (object) => object.kind === kind && (object.metadata as JsonObject).name === name,
  ) as unknown as Labelled;

describe("labels and annotations", () => {
  const twice = [
    ...json("commonLabels", { team: "platform", release: "mine" }),
    ...json("dataplane.podLabels", { team: "api" }),
    ...json("redis.bundled.podLabels", { team: "data" }),
    ...json("dataplane.podAnnotations", { "prometheus.io/scrape": "false", note: "x" }),
    ...json("metrics.tokenSecret.enabled", false),
    ...json("metrics.podMonitor", { enabled: true, labels: { release: "prometheus" } }),
    ...json("metrics.prometheusRule", { enabled: true, labels: { release: "prometheus" } }),
    ...json("metrics.dashboards", { enabled: true, labels: { team: "grafana" } }),
  ];

  it("of one name stand there once, and the nearer one wins", async () => {
    const text = await textOf(...twice);
    expect(parseAllDocuments(text).flatMap(({ errors }) => errors)).toEqual([]);
    const dataplane = named(text, "Deployment", "jsonplane-dataplane");
    expect(dataplane.metadata.labels.team).toBe("platform");
    expect(dataplane.spec.template.metadata.labels.team).toBe("api");
    expect(dataplane.spec.template.metadata.annotations).toMatchObject({
      "prometheus.io/scrape": "false",
      "prometheus.io/port": "9090",
    });
    expect(named(text, "PodMonitor", "jsonplane").metadata.labels.release).toBe("prometheus");
    expect(named(text, "PrometheusRule", "jsonplane").metadata.labels.release).toBe("prometheus");
    expect(named(text, "ConfigMap", "jsonplane-dashboard-operator").metadata.labels.team).toBe("grafana");
  });

  it.each(["commonLabels", "operator.podLabels", "redis.bundled.podLabels"])(
    "%s can't change those that selectors need",
    async (path) => {
      const { code, complaint } = await render(helm, json(path, { "app.kubernetes.io/component": "web" }));
      expect([code, complaint]).toEqual([1, expect.stringContaining("app.kubernetes.io/component is the chart's own")]);
    },
  );
});

describe("values that look right and are not", () => {
  it.each([
    [["dataplane.podDisruptionBudget.maxUnavailable=half"], "maxUnavailable"],
    [["dataplane.podDisruptionBudget.maxUnavailable=0"], "maxUnavailable"],
    [["dataplane.podDisruptionBudget.maxUnavailable=0%"], "maxUnavailable"],
    [["dataplane.podDisruptionBudget.maxUnavailable=2"], "maxUnavailable is 2 of 2 replicas: a drain could take all"],
    [["dataplane.podDisruptionBudget.maxUnavailable=100%"], "maxUnavailable is 100% of 2 replicas"],
    [
      ["dataplane.podDisruptionBudget.maxUnavailable=2", "dataplane.replicas=5", "dataplane.autoscaling.enabled=true"],
      "maxUnavailable is 2 of 2 replicas",
    ],
    [["redis.bundled.maxmemory=1gb"], "Redis would be killed before it refuses a write"],
    [["redis.bundled.resources.limits.memory=600M"], "redis.bundled.maxmemory is 640mb"],
    [["redis.bundled.resources.limits.memory=0.5Gi"], "resources.limits.memory is 0.5Gi"],
    [["dataplane.trustedProxies={proxy.example.org}"], "trustedProxies"],
    [["publicURL=https://api example.org"], "publicURL"],
    [["ingress.hosts={https://api.example.org}"], "hosts"],
    [["ingress.enabled=true", "ingress.hosts={*.example.org}"], "*.example.org is no host of a URL: set publicURL"],
    [["redis.bundled.image.tag="], "has neither tag nor digest"],
    [["dataplane.autoscaling.enabled=true", "dataplane.resources=null"], "set dataplane.resources.requests.cpu"],
  ])("%j is refused, and it is said which", async (set, message) => {
    const { code, text, complaint } = await render(helm, ["--set", set.join(",")]);
    expect([code, text, complaint]).toEqual([1, "", expect.stringContaining(message)]);
  });

  it.each([
    ["dataplane.podDisruptionBudget.maxUnavailable=25%"],
    ["dataplane.podDisruptionBudget.maxUnavailable=2,dataplane.replicas=3"],
    ["dataplane.replicas=1"],
    ["dataplane.replicas=null"],
    ["redis.bundled.maxmemory=3gb,redis.bundled.resources.limits.memory=4Gi"],
    ["redis.bundled.maxmemory=3gb,redis.bundled.resources.limits.memory=3300M"],
    ["redis.bundled.maxmemory=8gb,redis.bundled.resources=null"],
    ["redis.bundled.maxmemory=640mb,redis.bundled.resources.limits.memory=1073741824"],
    ["dataplane.trustedProxies={10.0.0.0/8,::1,fd00::/8}"],
    ["ingress.enabled=true,ingress.hosts={api.example.org,*.example.org}"],
    ["ingress.enabled=true,ingress.hosts={*.example.org},publicURL=https://api.example.org"],
    [
      "dataplane.autoscaling.enabled=true,dataplane.autoscaling.targetCPUUtilizationPercentage=0,dataplane.autoscaling.requestsPerSecond=9,dataplane.resources=null",
    ],
    ["dataplane.autoscaling.enabled=true,dataplane.resources.requests.cpu=null,dataplane.resources.limits.cpu=1"],
  ])("%s is taken", async (set) => {
    await textOf("--set", set);
  });
});

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}

function pathsOf({ properties = {} }: Schema, path: readonly string[] = []): readonly string[] {
  return Object.entries(properties).flatMap(([name, below]) => [
    [...path, name].join("."),
    ...pathsOf(below, [...path, name]),
  ]);
}

describe("a value that is left empty, which takes its default away,", () => {
  const emptied = async (path: string) => await render(helm, ["--set", `${path}=null,crds.enabled=false`]);

  it("is refused by its name, or nothing comes of it", async () => {
    const schema = JSON.parse(await readFile(`${chart}/values.schema.json`, "utf8")) as Schema;
    for (const path of pathsOf(schema).filter((path) => path !== "crds")) {
      const { code, text, complaint } = await emptied(path);
      if (code === 0) expect([path, text.match(/.*(%!|--[\w-]+=$|: $).*/m)?.[0]]).toEqual([path, undefined]);
      else expect(complaint).toMatch(new RegExp(`${path}[.\\w]* has no value`));
    }
  }, 300_000);

  it.each(["operator.workers", "networkPolicy", "networkPolicy.dnsPorts", "redis.external.ports", "crds.keep"])(
    "is refused, such as %s",
    async (path) => {
      const { complaint } = await emptied(path);
      expect(complaint).toContain("has no value: give it one, or take the line out");
    },
  );
});

it("whoever scales by other means leaves the replicas out", async () => {
  const { spec } = named(await textOf("--set", "dataplane.replicas=null"), "Deployment", "jsonplane-dataplane");
  expect(Object.keys(spec)).not.toContain("replicas");
});

it("`helm test` runs where the data plane runs: on the same nodes, tainted ones too", async () => {
  const toleration = { key: "dedicated", operator: "Exists" };
  const text = await textOf(
    ...json("dataplane.nodeSelector", { "kubernetes.io/arch": "amd64" }),
    ...json("dataplane.tolerations", [toleration]),
  );
  const { nodeSelector, tolerations } = named(text, "Pod", "jsonplane-test").spec;
  expect([nodeSelector, tolerations]).toEqual([{ "kubernetes.io/arch": "amd64" }, [toleration]]);
});

it("a load balancer can leave clients' addresses as they are, by which logins are limited", async () => {
  const local = "dataplane.service.externalTrafficPolicy=Local";
  expect(await textOf("--set", `dataplane.service.type=LoadBalancer,${local}`)).toContain(
    "externalTrafficPolicy: Local",
  );
  expect(await textOf("--set", local)).not.toContain("externalTrafficPolicy");
});

it("without values for it, nothing is written twice in any document", async () => {
  const text = await textOf("--values", caseFile("everything"));
  expect(parseAllDocuments(text).flatMap(({ errors }) => errors)).toEqual([]);
});
