// Values that win over what the chart has by itself, false and zero included, and what a released
// chart says of its images.

import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { pinImages } from "../../tools/image/pin-images.ts";
import { findHelm } from "../../tools/parts/helm.ts";
import { runCommand } from "../../tools/parts/run-command.ts";
import { teamAlertRules } from "../observability/alert-rules.ts";
import { chart, kubeVersion, objectsIn, render } from "../support/chart/helm.ts";

let helm: string;
beforeAll(async () => {
  helm = await findHelm(process.env);
});

type Rendered = ReturnType<typeof objectsIn>[number];

async function rendered(kind: string, name: string, values: object): Promise<Rendered | undefined> {
  const { code, text, complaint } = await render(helm, ["--set-json", JSON.stringify(values)]);
  expect([code, complaint]).toEqual([0, ""]);
  return objectsIn(text).find((each) => {
    return each.kind === kind && (each["metadata"] as { readonly name: string }).name === `jsonplane-${name}`;
  });
}

const podOf = (spec: object) => ({ spec: { template: { spec } } });

describe("a value that is false or zero", () => {
  it("wins in an autoscaler's behavior", async () => {
    const scaleDown = { stabilizationWindowSeconds: 0 };
    const autoscaling = { enabled: true, behavior: { scaleDown } };
    const autoscaler = await rendered("HorizontalPodAutoscaler", "dataplane", { dataplane: { autoscaling } });
    expect(autoscaler).toMatchObject({ spec: { behavior: { scaleDown } } });
  });

  it.each([
    ["dataplane", "Deployment", (podSecurityContext: object) => ({ dataplane: { podSecurityContext } })],
    ["operator", "Deployment", (podSecurityContext: object) => ({ operator: { podSecurityContext } })],
    ["redis", "StatefulSet", (podSecurityContext: object) => ({ redis: { bundled: { podSecurityContext } } })],
  ])("wins in the security context of %s's pods", async (name, kind, valuesOf) => {
    const securityContext = { runAsNonRoot: false, runAsUser: 0 };
    expect(await rendered(kind, name, valuesOf(securityContext))).toMatchObject(podOf({ securityContext }));
  });
});

it("a constraint of spreading keeps the selector that it has, and gets the pods' own where it has none", async () => {
  const labelSelector = { matchLabels: { team: "web" } };
  const own = { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule", labelSelector };
  const { labelSelector: _, ...bare } = own;
  const dataplane = { topologySpreadConstraints: [own, bare] };
  const pods = { "app.kubernetes.io/name": "jsonplane", "app.kubernetes.io/component": "dataplane" };
  expect(await rendered("Deployment", "dataplane", { dataplane })).toMatchObject(
    podOf({ topologySpreadConstraints: [own, { ...bare, labelSelector: { matchLabels: pods } }] }),
  );
});

it("a ServiceAccount's name stays a text", async () => {
  const operator = { serviceAccount: { name: "123" } };
  expect(await rendered("Deployment", "operator", { operator })).toMatchObject(podOf({ serviceAccountName: "123" }));
});

interface Rules {
  readonly groups: readonly { readonly rules: readonly { alert?: string; labels?: { readonly team?: string } }[] }[];
}

it("labels of alerts leave those for tenants alone", async () => {
  const prometheusRule = { enabled: true, alertLabels: { team: "platform" } };
  const { text } = await render(helm, ["--set-json", JSON.stringify({ metrics: { prometheusRule } })]);
  const rule = objectsIn(text).find(({ kind }) => kind === "PrometheusRule");
  const { groups } = (rule ?? { spec: { groups: [] } })["spec"] as unknown as Rules;
  const alerts = groups.flatMap(({ rules }) => rules).filter(({ alert }) => alert !== undefined);
  const without = alerts.filter(({ labels }) => labels?.team !== "platform").map(({ alert }) => alert);
  const ofTeam = new Set((await teamAlertRules()).map(({ alert }) => alert));
  const shared = alerts.map(({ alert = "" }) => alert).filter((alert) => ofTeam.has(alert));
  expect([without, shared.length, alerts.length > 10]).toEqual([shared, 4, true]);
});

describe("a released chart", () => {
  const digest = (digit: string) => `sha256:${digit.repeat(64)}`;
  const images = {
    image: `registry.example.org/jsonplane:0.1.0@${digest("a")}`,
    redisImage: `redis:8.6@${digest("b")}`,
  };

  async function imagesWith(...values: readonly string[]): Promise<readonly (string | undefined)[]> {
    const folder = await mkdtemp(join(tmpdir(), "jsonplane-chart-"));
    try {
      await cp(chart, folder, { recursive: true });
      const [chartFile, valuesFile] = [join(folder, "Chart.yaml"), join(folder, "values.yaml")];
      const texts = { chart: await readFile(chartFile, "utf8"), values: await readFile(valuesFile, "utf8") };
      const pinned = pinImages(texts, images);
      await Promise.all([writeFile(chartFile, pinned.chart), writeFile(valuesFile, pinned.values)]);
      const args = ["template", "jsonplane", folder, ...kubeVersion, ...values];
      const { code, stdout, stderr } = await runCommand(helm, args);
      expect([code, stderr]).toEqual([0, ""]);
      return [...new Set([...stdout.matchAll(/^ *image: "?([^"\n]*)"?$/gm)].map(([, image]) => image))].sort();
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  it("starts its images by their digest", async () => {
    expect(await imagesWith()).toEqual([images.redisImage, images.image].sort());
  });

  it.each([
    [["--set-string", "image.tag=9"], "registry.example.org/jsonplane:9"],
    [["--set", "image.repository=mine"], "mine:0.1.0"],
    [["--set", `image.digest=${digest("c")}`], `registry.example.org/jsonplane@${digest("c")}`],
    [["--set-string", "redis.bundled.image.tag=8.8"], "redis:8.8"],
  ])("starts what %j names, without a digest of another image", async (values, image) => {
    expect(await imagesWith(...values)).toContain(image);
  });
});
