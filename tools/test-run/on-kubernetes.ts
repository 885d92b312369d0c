// Runs what asks most of an API server on another minor version of Kubernetes: rules in CRDs and
// admission policies, server-side apply, watches, rights, and the chart. The record of such a run
// lies beside that of the full run; `support.md` of a release lists both.

import { availableParallelism } from "node:os";
import { bringKubernetes, partVersions } from "../parts/groups.ts";
import { type FullRun, writeRunOnKubernetes } from "./full-run.ts";
import { runTests } from "./run-tests.ts";
import { treeState } from "./tree-state.ts";
import type { Verdicts } from "./vitest-report.ts";

const operatorFiles = [
  ...["api-server", "confirm-by-bookmark", "crds", "deleted-definitions", "deletion", "edits", "first-hour"],
  ...["guard-rails", "helm-wait", "journey", "manifest-table", "rbac", "rbac-used", "status"],
  "unseen-definitions",
].map((file) => `test/operator/${file}.test.ts`);
const chartFiles = ["api-server", "definitions-owner", "gitops-health", "guard-rails", "kustomize"].map(
  (file) => `test/chart/${file}.test.ts`,
);

/** `minor` is one of those that tools/parts/kubernetes.ts builds. */
export async function runOnKubernetes(root: string, minor: string): Promise<Verdicts> {
  const env = await bringKubernetes(minor);
  const before = await treeState(root);
  const verdicts = await runTests(root, [
    {
      name: `kubernetes-${minor}`,
      projects: ["operator", "chart"],
      workers: Math.max(3, Math.floor(availableParallelism() / 2)),
      files: [...operatorFiles, ...chartFiles],
      env: () => env,
    },
  ]);
  const run: FullRun = {
    ...verdicts,
    before,
    after: await treeState(root),
    finished: new Date().toISOString(),
    parts: await partVersions("kubernetes", env),
  };
  await writeRunOnKubernetes(root, minor, run);
  const complaints = verdicts.complaints.map((complaint) => `on Kubernetes ${minor}: ${complaint}`);
  return { ...verdicts, complaints };
}
