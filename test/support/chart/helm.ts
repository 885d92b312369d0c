// Renders the project's chart with a real Helm.

import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";
import type { JsonObject } from "../../../core/config/types.ts";
import { runCommand } from "../../../tools/parts/run-command.ts";
import { testTier } from "../time/test-tier.ts";

export const chart = fileURLToPath(new URL("../../../charts/jsonplane", import.meta.url));
const cases = fileURLToPath(new URL("../../chart/cases/", import.meta.url));

/**
 * People use both major versions. What works with Helm 4 has always worked with 3, so that one is
 * tried at night.
 */
export const helmsOfTier: readonly (3 | 4)[] = testTier === "nightly" ? [4, 3] : [4];

/** Combinations of values, by name. */
export const caseNames = readdirSync(cases).map((file) => file.replace(/\.yaml$/, ""));

export function caseFile(name: string): string {
  return `${cases}${name}.yaml`;
}

/** Some builds of Helm 3 take every cluster that they aren't connected to for Kubernetes 1.20. */
export const kubeVersion = ["--kube-version", "1.36.0"] as const;

export interface Rendered {
  readonly code: number | null;
  /** Manifests, without blank lines: in those Helm 3 and 4 differ. */
  readonly text: string;
  /** What Helm complained of. */
  readonly complaint: string;
}

/** `args` = further arguments, such as `["--set", "crds.enabled=false"]`. */
export async function render(helm: string, args: readonly string[] = []): Promise<Rendered> {
  const { code, stdout, stderr } = await runCommand(helm, [
    "template",
    "jsonplane",
    chart,
    ...["--namespace", "jsonplane-system"],
    ...kubeVersion,
    ...args,
  ]);
  return { code, text: stdout.replace(/^\s*\n/gm, ""), complaint: stderr };
}

/** Objects of manifests. */
export function objectsIn(text: string): readonly (JsonObject & { readonly kind: string })[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as (JsonObject & { readonly kind: string }) | null)
    .filter((object) => object !== null);
}
