// A second release of one class in one namespace, on a real API server: Helm refuses to install it, and says what to set.

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

/** The operator of a release "jsonplane" that was installed with these values. */
async function namespaceWith(helm: string, args: readonly string[]): Promise<string> {
  const namespace = await api.namespace("releases");
  const { text } = await render(helm, args);
  const isOperator = (object: { readonly kind: string; readonly metadata?: unknown }): boolean =>
    object.kind === "Deployment" && (object.metadata as { name: string }).name.endsWith("-operator");
  for (const object of objectsIn(text).filter(isOperator)) {
    const metadata = { ...(object["metadata"] as object), namespace };
    await api.apply(JSON.stringify({ ...object, metadata }));
  }
  return namespace;
}

/** As `helm install` would. */
async function install(helm: string, release: string, namespace: string, args: readonly string[] = []) {
  const flags = ["--dry-run=server", "--namespace", namespace, "--set", "crds.enabled=false", ...args];
  const kubeconfig = ["--kubeconfig", await api.kubeconfig()];
  return await runCommand(helm, ["install", release, chart, ...kubeconfig, ...flags]);
}

describe.each(helmsOfTier)("with Helm %i, a second release in one namespace", (major) => {
  const classed = ["--set", "operator.className=internal"];

  it.each([
    ["without a class beside one without", [], [], "has an operator without a class already"],
    ["of the other one's class", classed, classed, "has an operator of the class internal already"],
  ])("%s is refused", async (_, first, second, message) => {
    const helm = await findHelm(process.env, major);
    const namespace = await namespaceWith(helm, first);
    const { code, stderr } = await install(helm, "other", namespace, second);
    expect(code).toBe(1);
    expect(stderr).toContain(`The release jsonplane in the namespace ${namespace} ${message}: set operator.className`);
  });

  it("of a class of its own is installed, and so is the first one's name", async () => {
    const helm = await findHelm(process.env, major);
    const namespace = await namespaceWith(helm, []);
    expect(await install(helm, "other", namespace, classed)).toMatchObject({ code: 0 });
    expect(await install(helm, "jsonplane", namespace)).not.toMatchObject({
      stderr: expect.stringContaining("already: set operator.className"),
    });
  });
});
