// CustomResourceDefinitions on a real API server: what the chart's policy lets nobody delete; and
// of those that were deleted and are there again, which command leaves Helm their owner, and what
// Helm says where another one is.

import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findHelm } from "../../tools/parts/helm.ts";
import { runCommand } from "../../tools/parts/run-command.ts";
import { chart, render } from "../support/chart/helm.ts";
import { type OwnApiServer, startApiServer } from "../support/kubernetes/api-server/api-server.ts";
import { temporaryFolder } from "../support/process/temporary-folder.ts";
import { eventually } from "../support/time/eventually.ts";

const folder = temporaryFolder("jsonplane-definitions-");
const namespace = ["--namespace", "jsonplane-system"];
const definition = "projects.jsonplane.io";
const allowDeletion = "jsonplane.io/allow-deletion";
const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const file = "files/crds/project.yaml";
let api: OwnApiServer;
let helm: string;
let versions = 0;

beforeAll(async () => {
  [api, helm] = await Promise.all([startApiServer({ crds: false }), findHelm(process.env)]);
  expect(await run("install", chart, "--create-namespace")).toMatchObject({ code: 0 });
});
afterAll(async () => {
  await api?.stop();
  await folder.remove();
});

async function run(verb: "install" | "upgrade", from: string, ...args: readonly string[]) {
  const kubeconfig = ["--kubeconfig", await api.kubeconfig()];
  return await runCommand(helm, [verb, "jsonplane", from, ...namespace, ...kubeconfig, ...args]);
}

/** The chart with another definition of Projects. */
async function nextChart(): Promise<string> {
  versions += 1;
  const next = join(folder.path, `chart-${versions}`);
  await cp(chart, next, { recursive: true });
  const text = await readFile(join(next, file), "utf8");
  await writeFile(join(next, file), text.replace("A Project is one JSON backend", `$& (${versions})`));
  return next;
}

const described = async (): Promise<string> =>
  await api.kubectl([
    "get",
    "crd",
    definition,
    "-o",
    "jsonpath={.spec.versions[0].schema.openAPIV3Schema.description}",
  ]);
const apply = (path: string, ...args: readonly string[]) =>
  api.kubectl(["apply", "--server-side", ...args, "-f", path]);
const annotate = (value: string) => api.kubectl(["annotate", "crd", definition, `${allowDeletion}${value}`]);

async function removeDefinition(): Promise<void> {
  await annotate("=true");
  await api.kubectl(["delete", "crd", definition]);
}

describe("a definition", () => {
  const dryRun = (...words: readonly string[]) => api.kubectl(["delete", ...words, "--dry-run=server"]);

  it("is not deleted without an annotation, which the refusal names", async () => {
    const refused = `kubectl annotate crd ${definition} ${allowDeletion}=true`;
    // A policy takes effect a moment after it is there.
    await eventually(() => expect(dryRun("crd", definition)).rejects.toThrow(refused));
    await expect(dryRun("crd", "-l", "app.kubernetes.io/part-of=jsonplane")).rejects.toThrow(refused);
    const collection = api.kubectl(["delete", "--raw", `${definitionsPath}?dryRun=All`]);
    await expect(collection.then(() => "deleted")).rejects.toThrow(allowDeletion);
    await annotate("=");
    expect(await dryRun("crd", definition)).toContain("deleted");
    await annotate("-");
  });

  it("of another group is deleted without one", async () => {
    const names = { kind: "Other", plural: "others" };
    const schema = { openAPIV3Schema: { type: "object" } };
    const versions = [{ name: "v1", served: true, storage: true, schema }];
    const spec = { group: "example.org", scope: "Cluster", names, versions };
    const metadata = { name: "others.example.org" };
    const other = { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", metadata, spec };
    await api.apply(JSON.stringify(other));
    expect(await api.kubectl(["delete", "crd", metadata.name])).toContain("deleted");
  });
});

describe("a definition that was deleted", () => {
  it("comes back with an upgrade to the same chart, and the next version changes it", async () => {
    await removeDefinition();
    expect(await run("upgrade", chart)).toMatchObject({ code: 0 });
    expect(await run("upgrade", await nextChart())).toMatchObject({ code: 0 });
    expect(await described()).toContain(`(${versions})`);
  });

  it("and is applied in Helm's name is Helm's", async () => {
    await removeDefinition();
    await apply(join(chart, file), "--field-manager=helm");
    expect(await run("upgrade", await nextChart())).toMatchObject({ code: 0 });
    expect(await described()).toContain(`(${versions})`);
  });

  it("and is applied by another owner is refused before an upgrade changes anything; what the refusal says ends it", async () => {
    await removeDefinition();
    await apply(join(chart, file));
    const values = ["--set", "operator.workers=4"];
    expect(await run("upgrade", chart)).toMatchObject({ code: 0 });
    const next = await nextChart();
    const { code, stderr } = await run("upgrade", next, ...values);
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${definition} was applied by kubectl`)]);
    const workers = () => api.kubectl(["get", "deployment", "jsonplane-operator", ...namespace, "-o", "yaml"]);
    expect(await workers()).not.toContain("--workers=4");

    const [, shown = ""] = /--show-only (\S+) \| kubectl apply/.exec(stderr) ?? [];
    const { stdout } = await runCommand(helm, ["template", "jsonplane", next, "--show-only", shown]);
    const rendered = join(folder.path, "definitions.yaml");
    await writeFile(rendered, stdout);
    await apply(rendered, ...(/--field-manager=\S+ --force-conflicts/.exec(stderr)?.[0] ?? "").split(" "));
    expect(await run("upgrade", next, ...values)).toMatchObject({ code: 0 });
    expect(await run("upgrade", await nextChart(), ...values)).toMatchObject({ code: 0 });
  });
});

it("definitions are deleted with the release where it does not keep them", async () => {
  expect(await run("upgrade", await nextChart(), "--set", "crds.keep=false")).toMatchObject({ code: 0 });
  const kubeconfig = ["--kubeconfig", await api.kubeconfig()];
  const uninstalled = await runCommand(helm, ["uninstall", "jsonplane", ...namespace, ...kubeconfig]);
  expect(uninstalled).toMatchObject({ code: 0 });
  // The API server tries later and later again where a definition has only just been changed.
  const patience = { withinMs: 100_000 };
  await eventually(async () => expect(await api.kubectl(["get", "crd", "-o", "name"])).toBe(""), patience);
});

it("no policy is made by a release for single namespaces, nor where none is wanted", async () => {
  for (const value of ["operator.watchNamespaces[0]=shop", "crds.preventDeletion=false"]) {
    const { code, text } = await render(helm, ["--set", value]);
    expect([code, text.includes("ValidatingAdmissionPolicy")]).toEqual([0, false]);
  }
});

it("the chart is rendered where there is no cluster to look at", async () => {
  expect(await render(helm, ["--is-upgrade"])).toMatchObject({ code: 0 });
});
