// Installations that are not called what the guides call them: odd names of releases and
// namespaces, several in one cluster, a part of another chart, and one by somebody who may write
// nothing that belongs to the cluster.

import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { findHelm } from "../../tools/parts/helm.ts";
import { runCommand } from "../../tools/parts/run-command.ts";
import { caseFile, chart, helmsOfTier, kubeVersion } from "../support/chart/helm.ts";

let helm: string;

beforeAll(async () => {
  helm = await findHelm(process.env);
});

interface Manifest {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

async function install(release: string, namespace: string, args: readonly string[] = []): Promise<readonly Manifest[]> {
  const { code, stdout, stderr } = await template(release, namespace, args);
  expect([code, stderr]).toEqual([0, ""]);
  return parseAllDocuments(stdout).flatMap((document) => {
    expect(document.errors).toEqual([]);
    return (document.toJS() as Manifest | null) ?? [];
  });
}

function template(release: string, namespace: string, args: readonly string[]) {
  return runCommand(helm, ["template", release, chart, "--namespace", namespace, ...kubeVersion, ...args]);
}

const labelsOf = (objects: readonly Manifest[]): readonly unknown[] =>
  objects.flatMap(({ metadata }) => Object.values(metadata.labels ?? {}));

const idOf = ({ kind, metadata }: Manifest): string => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;

describe("names", () => {
  it.each([
    ["longest", "a".repeat(53), "team"],
    ["cut at a dash", `${"a".repeat(38)}--b`, "team"],
    ["all digits", "r1", "2024"],
    ["words of YAML", "yes", "null"],
  ])("%s: each is a text, and short enough for a Service", async (_, release, namespace) => {
    const objects = await install(release, namespace, ["--values", caseFile("everything")]);
    for (const { kind, metadata } of objects) {
      expect([kind, typeof metadata.name]).toEqual([kind, "string"]);
      expect(metadata.name.length).toBeLessThanOrEqual(/^(Deployment|StatefulSet|Service|Pod)$/.test(kind) ? 63 : 253);
    }
    const names = (wanted: string) =>
      objects.filter(({ kind }) => kind === wanted).map(({ metadata }) => metadata.name);
    for (const name of names("Service")) expect(name).toMatch(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/);
    expect(new Set(objects.map(({ metadata }) => metadata.namespace))).toEqual(new Set([namespace, undefined]));
    for (const value of labelsOf(objects)) {
      expect(value).toEqual(expect.stringMatching(/^[A-Za-z0-9]([-\w.]{0,61}[A-Za-z0-9])?$/));
    }
  });

  it("watched namespaces and an instance that look like numbers stay texts", async () => {
    const objects = await install("r1", "js", [
      "--set-string",
      "operator.watchNamespaces={123}",
      "--set-string",
      "nameOverride=77",
    ]);
    expect(objects.filter(({ metadata }) => metadata.namespace === "123").map(({ kind }) => kind)).toContain("Role");
    expect(new Set(labelsOf(objects).map((value) => typeof value))).toEqual(new Set(["string"]));
  });

  it.each([
    ["123", [], "a Service's name begins with a letter"],
    ["a.b", [], "set fullnameOverride"],
    ["jsonplane", ["--set", "fullnameOverride=My_Name"], "fullnameOverride"],
    ["jsonplane", ["--set", "nameOverride=Shop!"], "nameOverride"],
    ["jsonplane", ["--set", "operator.watchNamespaces={shop,shop}"], "watchNamespaces"],
  ])("a release %s with %j is refused, and it is said why", async (release, args, message) => {
    const { code, stderr } = await template(release, "js", args);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
  });
});

describe("two installations in one cluster", () => {
  const second = ["--set", "crds.enabled=false"];
  const watched = ["--set", "operator.watchNamespaces={shop}"];

  it.each<[string, [string, string], [string, string], string[]]>([
    ["of one name, in two namespaces", ["jsonplane", "one"], ["jsonplane", "two"], []],
    ["whose namespace and name read alike", ["a", "team"], ["jsonplane", "team-a"], []],
    ["of one name, both serving a namespace", ["jsonplane", "one"], ["jsonplane", "two"], watched],
  ])("%s: have no object in common", async (_, [release, namespace], [otherRelease, otherNamespace], args) => {
    const first = (await install(release, namespace, args)).map(idOf);
    const other = (await install(otherRelease, otherNamespace, [...second, ...args])).map(idOf);
    expect(first.filter((id) => other.includes(id))).toEqual([]);
  });
});

it("who may write nothing of the cluster's own can install for single namespaces", async () => {
  const own = ["crds.enabled=false", "rbac.userRoles=false", "operator.watchNamespaces={shop,blog}"];
  const objects = await install("jsonplane", "shop", ["--set", own.join(",")]);
  expect(objects.filter(({ metadata }) => metadata.namespace === undefined).map(idOf)).toEqual([]);
});

it.each(helmsOfTier)("a chart of yours can have it as a part that a value switches on, with Helm %i", async (major) => {
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-chart-"));
  try {
    const dependency = "dependencies: [{name: jsonplane, version: 0.1.0, condition: jsonplane.enabled}]";
    await writeFile(join(folder, "Chart.yaml"), `apiVersion: v2\nname: shop\nversion: 1.0.0\n${dependency}\n`);
    await writeFile(
      join(folder, "values.yaml"),
      "global: {region: eu}\njsonplane: {enabled: true, dataplane: {replicas: 3}}\n",
    );
    await mkdir(join(folder, "charts"));
    await symlink(chart, join(folder, "charts/jsonplane"));
    const program = await findHelm(process.env, major);
    const { code, stdout, stderr } = await runCommand(program, ["template", "shop", folder, ...kubeVersion]);
    expect([code, stderr]).toEqual([0, expect.not.stringContaining("Error")]);
    expect(stdout).toContain("name: shop-jsonplane-dataplane");
  } finally {
    await rm(folder, { recursive: true });
  }
});
