// The install without Helm, deploy/kustomize: generated from the chart as it is, whole, and taken
// by a real API server.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { generateKustomize, renderWithoutHelm } from "../../tools/generate-kustomize.ts";
import { root } from "../../tools/read-crds.ts";
import { objectsIn } from "../support/chart/helm.ts";
import { sharedApiServer } from "../support/fleet/shared-fleet.ts";
import type { TestApiServer } from "../support/kubernetes/api-server/api-server-access.ts";

let api: TestApiServer;

beforeAll(async () => {
  api = await sharedApiServer();
  const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
  const metadata = { name: "jsonplane-system", labels };
  await api.apply(JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata }));
});

it("deploy/kustomize is what is generated from the chart: else run `npm run generate`", async () => {
  for (const [path, text] of await generateKustomize(process.env)) {
    expect(await readFile(join(root, path), "utf8"), path).toBe(text);
  }
});

it("external-redis is what the chart renders for a Redis of your own", async () => {
  const values = ["redis.bundled.enabled=false", "redis.external.existingSecret.name=jsonplane-redis"];
  const brought = ["CustomResourceDefinition", "Namespace"];
  const built = objectsIn(await api.kubectl(["kustomize", join(root, "deploy/kustomize/external-redis")]));
  const rendered = objectsIn(await renderWithoutHelm(process.env, values));
  expect(byName(built.filter(({ kind }) => !brought.includes(kind)))).toEqual(byName(rendered));
});

describe.each([
  ["default", true],
  ["external-redis", false],
])("kubectl apply -k deploy/kustomize/%s", (folder, bundled) => {
  const built = () => api.kubectl(["kustomize", join(root, "deploy/kustomize", folder)]);

  it("brings the namespace, the five kinds, both programs, and a Redis where it should", async () => {
    const kinds = objectsIn(await built()).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "CustomResourceDefinition")).toHaveLength(5);
    expect(kinds.filter((kind) => kind === "Namespace")).toHaveLength(1);
    expect(kinds.filter((kind) => kind === "Deployment")).toHaveLength(2);
    expect(kinds.filter((kind) => kind === "StatefulSet")).toHaveLength(bundled ? 1 : 0);
  });

  it("is taken whole by an API server, each field of which it knows", async () => {
    const input = await built();
    const options = ["--server-side", "--force-conflicts", "--dry-run=server", "--validate=strict"];
    const output = await api.kubectl(["apply", ...options, "-f", "-"], { input });
    expect(output.trim().split("\n")).toHaveLength(objectsIn(input).length);
  });

  it("is taken from a client-side apply too: no object is too large for its annotation", async () => {
    const input = await built();
    const output = await api.kubectl(["apply", "--dry-run=server", "-f", "-"], { input });
    expect(output.trim().split("\n")).toHaveLength(objectsIn(input).length);
  });

  it("names the URL of clients first among the arguments, where docs/install.md patches it", async () => {
    const deployments = objectsIn(await built()).filter(({ kind }) => kind === "Deployment");
    for (const { spec } of deployments as unknown as readonly DeploymentObject[]) {
      const [container] = spec.template.spec.containers;
      expect(container?.args.map((arg) => arg.split("=")[0]).indexOf("--public-url")).toBe(1);
    }
  });
});

interface DeploymentObject {
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly { args: string[] }[] } } };
}

function byName(objects: ReturnType<typeof objectsIn>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    objects.map((object) => [`${object.kind} ${(object.metadata as { name: string }).name}`, object]),
  );
}
