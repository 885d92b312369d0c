// Two versions of the API are served, with one schema: whoever uses either meets the same objects,
// nobody writes them back and forth, and definitions without the newer one keep them.

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { servedVersions } from "../../core/manifests/object.ts";
import { crdFolder, root } from "../../tools/read-crds.ts";
import { fencedBlocks } from "../support/documents/fenced-blocks.ts";
import { sharedApiServer } from "../support/fleet/shared-fleet.ts";
import type { TestApiServer } from "../support/kubernetes/api-server/api-server-access.ts";
import { type ApiObject, apiCall, apiObject } from "../support/kubernetes/api-server/api-server-call.ts";
import { collectionPath, type Manifest } from "../support/kubernetes/api-server/api-server-objects.ts";
import { isOutOfSync } from "../support/kubernetes/argo-cd-diff.ts";
import { eventually } from "../support/time/eventually.ts";

let server: TestApiServer;
let examples: readonly Manifest[];

beforeAll(async () => {
  server = await sharedApiServer();
  examples = await readExamples();
});

/** One of each kind and name. */
async function readExamples(): Promise<readonly Manifest[]> {
  const folder = join(root, "examples");
  const files = (await readdir(folder)).filter((name) => name.endsWith(".yaml"));
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), "utf8")));
  const found = texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Manifest));
  return [...new Map(found.map((each) => [`${each.kind}/${each.metadata.name}`, each])).values()];
}

const inVersion = (version: string): readonly Manifest[] =>
  examples.map((manifest) => ({ ...manifest, apiVersion: `jsonplane.io/${version}` }));

const pathOf = (manifest: Manifest, namespace: string): string =>
  `${collectionPath(manifest, namespace)}/${manifest.metadata.name}`;

/** Server-side apply, as Argo CD and Flux do it. */
function apply(manifest: Manifest, namespace: string, query = ""): Promise<ApiObject> {
  const path = `${pathOf(manifest, namespace)}?fieldManager=argocd-controller&force=true${query}`;
  return apiObject(server, path, { method: "PATCH", contentType: "application/apply-patch+yaml", body: manifest });
}

/** As the operator writes it: in the stored version, whatever others use. */
function applyStatus({ kind, metadata: { name } }: Manifest, namespace: string, group = "jsonplane.io") {
  const manifest = { apiVersion: `${group}/v1alpha1`, kind, metadata: { name } };
  const path = `${pathOf(manifest, namespace)}/status?fieldManager=jsonplane-operator&force=true`;
  const body = { ...manifest, status: { observedGeneration: 1 } };
  return apiCall(server, path, { method: "PATCH", contentType: "application/apply-patch+yaml", body });
}

function readAll(version: string, namespace: string): Promise<readonly ApiObject[]> {
  return Promise.all(inVersion(version).map((manifest) => apiObject(server, pathOf(manifest, namespace))));
}

const valuesOf = (objects: readonly ApiObject[]) => objects.map(({ apiVersion: _, ...object }) => object);
const writesOf = (objects: readonly ApiObject[]) => objects.map(({ metadata }) => metadata?.["resourceVersion"]);
const generationsOf = (objects: readonly ApiObject[]) => objects.map(({ metadata }) => metadata?.["generation"]);

const pairs = servedVersions.flatMap((one) => servedVersions.map((other) => [one, other] as const));

describe.each(pairs)("what was applied in %s", (applied, used) => {
  test(`is the same in ${used}, where to apply it again changes nothing`, async () => {
    const namespace = await server.namespace();
    for (const manifest of inVersion(applied)) await apply(manifest, namespace);
    for (const manifest of examples) expect((await applyStatus(manifest, namespace)).status).toBe(200);
    const before = await readAll(applied, namespace);
    expect(valuesOf(await readAll(used, namespace))).toEqual(valuesOf(before));
    for (const manifest of inVersion(used)) await apply(manifest, namespace);
    const after = await readAll(used, namespace);
    expect(generationsOf(after)).toEqual(generationsOf(before));
    for (const manifest of inVersion(used)) await apply(manifest, namespace);
    expect(writesOf(await readAll(used, namespace))).toEqual(writesOf(after));
  });

  test(`is in sync with manifests in ${used}, by both of Argo CD's ways to compare`, async () => {
    const [byKubectl, byServer] = [await server.namespace(), await server.namespace()];
    await server.kubectl(["apply", "-n", byKubectl, "-f", "-"], { input: inVersion(applied).map(text).join("---\n") });
    for (const manifest of inVersion(applied)) await apply(manifest, byServer);
    for (const manifest of inVersion(used)) {
      const live = await apiObject(server, pathOf(manifest, byKubectl));
      expect(isOutOfSync(manifest, live), `${manifest.kind} ${manifest.metadata.name}`).toBe(false);
      const edited = { ...manifest, metadata: { ...manifest.metadata, labels: { edited: "yes" } } };
      expect(isOutOfSync(edited, live)).toBe(true);
      const predicted = await apply(manifest, byServer, "&dryRun=All");
      expect(compared(predicted)).toEqual(compared(await apiObject(server, pathOf(manifest, byServer))));
    }
  });
});

const text = (manifest: Manifest): string => `${JSON.stringify(manifest)}\n`;

/** Without what Argo CD's server-side diff leaves out. */
function compared({ metadata, ...object }: ApiObject): object {
  const { managedFields: _fields, resourceVersion: _version, ...rest } = metadata ?? {};
  return { ...object, metadata: rest };
}

/** The definition of a Project in another group, so that other tests keep theirs. */
async function otherDefinition(group: string) {
  const definition = parse(await readFile(join(crdFolder, "project.yaml"), "utf8"));
  const { shortNames: _short, categories: _all, ...names } = definition.spec.names;
  const versions = definition.spec.versions as readonly { readonly name: string }[];
  return {
    ...definition,
    metadata: { name: `projects.${group}` },
    spec: { ...definition.spec, group, names, versions },
  };
}

describe("definitions of before, which", () => {
  const [, newer = ""] = servedVersions;

  test.each([
    ["have the newer version and don't serve it, keep every object, and it can be applied", "unserved"],
    ["don't have the newer version keep every object, and it can be applied after the line in the guide", "unknown"],
  ] as const)("%s", async (_, how) => {
    const group = `${how}.test`;
    const definition = await otherDefinition(group);
    const namespace = await server.namespace();
    const project = { apiVersion: `${group}/${newer}`, kind: "Project", metadata: { name: "shop" }, spec: spec("Off") };
    const stored = { ...project, apiVersion: `${group}/v1alpha1` };
    await server.apply(JSON.stringify(definition));
    await eventually(() => apply(project, namespace), { withinMs: 60_000 });
    expect((await applyStatus(project, namespace, group)).status).toBe(200);
    const before = await apiObject(server, pathOf(stored, namespace));

    const [first, second] = definition.spec.versions;
    const versions = how === "unserved" ? [first, { ...second, served: false }] : [first];
    await server.apply(JSON.stringify({ ...definition, spec: { ...definition.spec, versions } }));
    const isTaken = async () => expect((await apiObject(server, `/apis/${group}`))["versions"]).toHaveLength(1);
    await eventually(isTaken, { withinMs: 60_000 });
    expect(compared(await apiObject(server, pathOf(stored, namespace)))).toEqual(compared(before));
    const isUsable = async () => {
      if (how === "unknown") await server.kubectl(await rollbackLine(`projects.${group}`));
      expect((await applyStatus(project, namespace, group)).status).toBe(200);
    };
    // The server says that it has taken a definition before it goes by it.
    await eventually(isUsable, { withinMs: 60_000 });
    const applied = await apply({ ...stored, spec: spec("ReadOnly") }, namespace);
    expect(applied["spec"]).toMatchObject(spec("ReadOnly"));
    await apiObject(server, `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/projects.${group}`, {
      method: "DELETE",
    });
  });
});

const spec = (serving: string) => ({ serving });

/** What docs/operations.md says to run, for these objects alone. */
async function rollbackLine(resource: string): Promise<readonly string[]> {
  const blocks = fencedBlocks(await readFile(join(root, "docs/operations.md"), "utf8"));
  const { text: line = "" } = blocks.find((block) => block.text.includes("jsonplane.io/rolled-back-")) ?? {};
  return line.trim().replace("kubectl ", "").replace("jsonplane ", `${resource} `).split(" ");
}
