// Everything that the chart renders to, taken by a real API server, in namespaces that hold pods to
// the standard "restricted".

import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import type { JsonObject } from "../../core/config/types.ts";
import { findForeignCrds } from "../../tools/parts/foreign-crds.ts";
import { findHelm } from "../../tools/parts/helm.ts";
import { caseFile, caseNames, objectsIn, render } from "../support/chart/helm.ts";
import { sharedApiServer } from "../support/fleet/shared-fleet.ts";
import type { TestApiServer } from "../support/kubernetes/api-server/api-server-access.ts";

let api: TestApiServer;
let helm: string;

beforeAll(async () => {
  helm = await findHelm(process.env);
  api = await sharedApiServer();
  for (const file of await findForeignCrds(process.env)) {
    await api.kubectl(["apply", "--server-side", "-f", file]);
  }
  for (const namespace of ["jsonplane-system", "shop", "blog"]) await api.apply(restricted(namespace));
});

interface Workload {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly template?: { readonly metadata: JsonObject; readonly spec: PodSpec } };
}

interface PodSpec {
  readonly serviceAccountName?: string;
  readonly priorityClassName?: string;
  readonly volumes?: readonly JsonObject[];
}

function restricted(name: string): string {
  const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
  return JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name, labels } });
}

const listOf = (items: readonly unknown[]): string => JSON.stringify({ apiVersion: "v1", kind: "List", items });

/**
 * As controllers make it, but for what only they or another cluster would know of: the account, a
 * volume's claim, a class.
 */
function podOf({ metadata: { name }, spec: { template } }: Workload, namespace: string): unknown {
  const { serviceAccountName: _, priorityClassName: __, volumes = [], ...spec } = template?.spec ?? {};
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...template?.metadata, name, namespace },
    spec: { ...spec, automountServiceAccountToken: false, volumes: [...volumes, { name: "data", emptyDir: {} }] },
  };
}

it("the manifests of the page about hosts of tenants are taken by an API server, its values by the chart", async () => {
  const page = await readFile(new URL("../../docs/how-to/tenant-hosts.md", import.meta.url), "utf8");
  const blocks = [...page.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text = ""]) => text);
  const values = blocks.filter((text) => text.startsWith("# values.yaml"));
  const manifests = blocks.filter((text) => text.includes("\nkind: ") && !text.includes("jsonplane.io/"));
  expect([values.length, manifests.length, blocks.length]).toEqual([2, 2, 5]);
  for (const input of manifests) {
    await api.kubectl(["apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-"], { input });
  }
  const merged = values.map((text) => parse(text) as JsonObject);
  const { code, text } = await render(
    helm,
    merged.flatMap((each) => ["--set-json", JSON.stringify(each)]),
  );
  expect(code).toBe(0);
  expect(text).toContain("*.apps.example.org");
});

it("the alerts for a team are taken by an API server, in the team's namespace", async () => {
  const input = await readFile(new URL("../../deploy/monitoring/alerts.yaml", import.meta.url), "utf8");
  const strictly = ["--server-side", "--dry-run=server", "--validate=strict", "--namespace", "shop"];
  expect(await api.kubectl(["apply", ...strictly, "-f", "-"], { input })).toContain("prometheusrule");
});

describe.each(caseNames)("an API server, given the values %s,", (name) => {
  const rendered = async () => (await render(helm, ["--values", caseFile(name)])).text;

  it("takes every object, each field of which it knows", async () => {
    const text = await rendered();
    // A pod is refused where its account isn't there yet.
    for (const object of objectsIn(text).filter(({ kind }) => kind === "ServiceAccount")) {
      await api.apply(JSON.stringify(object));
    }
    const output = await api.kubectl(["apply", "--server-side", "--dry-run=server", "--validate=strict", "-f", "-"], {
      input: text,
    });
    expect(output.trim().split("\n")).toHaveLength(objectsIn(text).length);
  });

  it("takes every pod under the standard restricted", async () => {
    const objects = objectsIn(await rendered()) as unknown as readonly Workload[];
    const namespace = await api.namespace("restricted");
    await api.apply(restricted(namespace));
    await api.token({ namespace, serviceAccount: "default" });
    const workloads = objects.filter(({ kind }) => ["Deployment", "StatefulSet"].includes(kind));
    expect(workloads.length).toBeGreaterThanOrEqual(2);
    const input = listOf(workloads.map((workload) => podOf(workload, namespace)));
    const output = await api.kubectl(["create", "--dry-run=server", "-f", "-"], { input });
    expect(output.match(/created/g)).toHaveLength(workloads.length);
  });
});
