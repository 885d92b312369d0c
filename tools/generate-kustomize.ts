// Renders the chart for deploy/kustomize, without the labels of Helm, so that `kubectl apply -k`
// installs the same as `helm install`. Needs Helm, so it is no part of `npm run check`: a test of
// the chart compares it with what stands in the repository.

import { join } from "node:path";
import type { Environment } from "./parts/cache.ts";
import { findHelm } from "./parts/helm.ts";
import { lastWords, runCommand } from "./parts/run-command.ts";
import { root } from "./read-crds.ts";

const head = "# Generated from charts/jsonplane by `npm run generate`. Change the chart, or patch it in an overlay.\n";

/** By path below the repository's root. */
export async function generateKustomize(env: Environment): Promise<ReadonlyMap<string, string>> {
  return new Map([["deploy/kustomize/default/jsonplane.yaml", head + (await renderWithoutHelm(env))]]);
}

/**
 * Without CRDs, and without the labels of Helm: whoever installs with kustomize has no release that
 * these would speak of. Blank lines differ between Helm 3 and 4.
 */
export async function renderWithoutHelm(env: Environment, values: readonly string[] = []): Promise<string> {
  const options = ["--kube-version", "1.36.0", "--skip-tests", "--set", "crds.enabled=false"];
  const where = [join(root, "charts/jsonplane"), "--namespace", "jsonplane-system"];
  const set = values.flatMap((value) => ["--set", value]);
  const done = await runCommand(await findHelm(env), ["template", "jsonplane", ...where, ...options, ...set]);
  if (done.code !== 0) throw new Error(`helm template failed:\n${lastWords(done)}`);
  return done.stdout
    .replace(/^ *(?:helm\.sh\/chart|app\.kubernetes\.io\/managed-by): .*\n/gm, "")
    .replace(/^\s*\n/gm, "");
}
