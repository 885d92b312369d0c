// Turns the record of the last full run into the table of what a version was tested with. Pure.

import { staleness } from "../spec/check-rows.ts";
import type { FullRun } from "../test-run/full-run.ts";
import type { TreeState } from "../test-run/tree-state.ts";

interface Row {
  readonly title: string;
  /** Of the part. */
  readonly part: string;
  /** Kinds of tests that run it. */
  readonly kinds: readonly string[];
}

const rows: readonly Row[] = [
  { title: "Kubernetes", part: "kube-apiserver", kinds: ["operator", "chart", "image", "observability", "e2e"] },
  { title: "kubectl", part: "kubectl", kinds: ["chart", "e2e"] },
  { title: "Helm", part: "helm 4", kinds: ["chart", "e2e"] },
  { title: "Redis", part: "redis-server", kinds: ["store", "http", "operator", "process", "security", "e2e"] },
  { title: "RedisJSON", part: "RedisJSON", kinds: ["store", "http", "operator", "process", "security", "e2e"] },
  { title: "Valkey", part: "valkey-server", kinds: ["store", "http"] },
  { title: "Node", part: "node", kinds: ["all"] },
  { title: "Chromium", part: "chromium", kinds: ["process"] },
  { title: "nginx", part: "nginx", kinds: ["process"] },
  { title: "Prometheus", part: "prometheus", kinds: ["observability"] },
];

/**
 * Only what ran with this tree and passed is in it. `onKubernetes`: some tests on further versions
 * of Kubernetes.
 */
export function supportMatrix(run: FullRun | undefined, onKubernetes: readonly FullRun[], now: TreeState): string {
  const reason = staleness(run, now) ?? (run?.failed === 0 ? undefined : "the last full run failed");
  if (run === undefined || reason !== undefined) return `# Tested with\n\nNothing is known: ${reason}.\n`;
  const lines = rows.flatMap(({ title, part, kinds }) => {
    const version = run.parts?.[part];
    return version === undefined ? [] : [`| ${title} | ${version} | ${kinds.join(", ")} |`];
  });
  const further = onKubernetes
    .filter((other) => staleness(other, now) === undefined && other.failed === 0)
    .map(({ passed, parts }) => `| Kubernetes | ${parts?.["kube-apiserver"]} | ${passed} tests of operator, chart |`);
  lines.splice(1, 0, ...further);
  const counts = `${run.passed} tests passed on ${run.finished.slice(0, 10)}.`;
  return `# Tested with\n\n${counts}\n\n| what | version | kinds of tests |\n|---|---|---|\n${lines.join("\n")}\n`;
}
