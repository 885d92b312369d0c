// A second release in one namespace, on a real API server: Helm refuses to install it.

import { beforeAll, describe, expect, it } from "vitest";
import { findHelm } from "../../tools/parts/helm.ts";
import { runCommand } from "../../tools/parts/run-command.ts";
import { chart, helmsOfTier, objectsIn, render } from "../support/chart/helm.ts";
import { sharedApiServer } from "../support/fleet/shared-fleet.ts";
import type { TestApiServer } from "../support/kubernetes/api-server/api-server-access.ts";

let api: TestApiServer;

beforeAll(async () => {
  api = await sharedApiServer();
});

/** With the operator of a release "jsonplane". */
async function namespaceWith(helm: string): Promise<string> {
  const namespace = await api.namespace("releases");
  const { text } = await render(helm, []);
  const isOperator = (object: { readonly kind: string; readonly metadata?: unknown }): boolean =>
    object.kind === "Deployment" && (object.metadata as { name: string }).name.endsWith("-operator");
  for (const object of objectsIn(text).filter(isOperator)) {
    const metadata = { ...(object["metadata"] as object), namespace };
    await api.apply(JSON.stringify({ ...object, metadata }));
  }
  return namespace;
}

/** As `helm install` would. */
async function install(helm: string, release: string, namespace: string) {
  const flags = ["--dry-run=server", "--namespace", namespace, "--set", "crds.enabled=false"];
  const kubeconfig = ["--kubeconfig", await api.kubeconfig()];
  return await runCommand(helm, ["install", release, chart, ...kubeconfig, ...flags]);
}

describe.each(helmsOfTier)("with Helm %i, a second release in one namespace", (major) => {
  it("is refused, and the first one can be installed again", async () => {
    const helm = await findHelm(process.env, major);
    const namespace = await namespaceWith(helm);
    const { code, stderr } = await install(helm, "other", namespace);
    expect(code).toBe(1);
    expect(stderr).toContain(`The release jsonplane of jsonplane is in the namespace ${namespace} already`);
    expect((await install(helm, "jsonplane", namespace)).stderr).not.toContain("already: install into");
  });
});
