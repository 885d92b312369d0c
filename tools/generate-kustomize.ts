// The manifests of deploy/kustomize: what the chart renders to, without the labels of Helm, so that
// `kubectl apply -k` installs the same as `helm install`. Needs Helm, so it is no part of `npm run
// check`: a test of the chart compares them with what stands in the repository.

import { join } from "node:path";
import type { Environment } from "./parts/cache.ts";
import { findHelm } from "./parts/helm.ts";
import { lastWords, runCommand } from "./parts/run-command.ts";
import { crdFiles, root } from "./read-crds.ts";

const head = "# Generated from charts/jsonplane by `npm run generate`. Change the chart, or patch it in an overlay.\n";

/** Values of each way to install, by its folder. */
const installs: ReadonlyMap<string, readonly string[]> = new Map([
  ["default", []],
  ["external-redis", ["redis.bundled.enabled=false", "redis.external.existingSecret.name=jsonplane-redis"]],
]);

/** By path below the repository's root. */
export async function generateKustomize(env: Environment): Promise<ReadonlyMap<string, string>> {
  const helm = await findHelm(env);
  const rendered = Array.from(installs, async ([folder, values]): Promise<[string, string]> => {
    return [`deploy/kustomize/${folder}/jsonplane.yaml`, head + (await render(helm, values))];
  });
  return new Map([["deploy/kustomize/base/crds.yaml", await allCrds()], ...(await Promise.all(rendered))]);
}

async function render(helm: string, values: readonly string[]): Promise<string> {
  const options = ["--kube-version", "1.36.0", "--skip-tests", "--set", "crds.enabled=false"];
  const where = [join(root, "charts/jsonplane"), "--namespace", "jsonplane-system"];
  const set = values.flatMap((value) => ["--set", value]);
  const done = await runCommand(helm, ["template", "jsonplane", ...where, ...options, ...set]);
  if (done.code !== 0) throw new Error(`helm template failed:\n${lastWords(done)}`);
  return withoutHelm(done.stdout);
}

/**
 * Whoever installs with kustomize has no release that these labels would speak of; blank lines
 * differ between Helm 3 and 4.
 */
function withoutHelm(text: string): string {
  return text.replace(/^ *(?:helm\.sh\/chart|app\.kubernetes\.io\/managed-by): .*\n/gm, "").replace(/^\s*\n/gm, "");
}

/** Kustomize reads no file outside its folder. */
async function allCrds(): Promise<string> {
  const texts = [...(await crdFiles()).values()];
  return `# Copies of crds/*.yaml, made by \`npm run generate\`.\n${texts.map((text) => text.replace(/^---\n/, "")).join("---\n")}`;
}
