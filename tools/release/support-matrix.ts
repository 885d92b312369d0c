// Turns the record of the last full run into the table of what a version was tested with. Pure.

import { staleness } from "../spec/check-rows.ts";
import type { FullRun } from "../test-run/full-run.ts";
import type { TreeState } from "../test-run/tree-state.ts";

interface Row {
  readonly title: string;
  /** Of the part. */
  readonly part: string;
  readonly ran: string;
}

const apiServer = "Kubernetes, API server";
/** A node is a part where it is one of our own; kind brings its own version. */
const rows: readonly Row[] = [
  { title: apiServer, part: "kube-apiserver", ran: "all tests of custom resources, operator and chart" },
  { title: "Kubernetes, nodes", part: "kubelet", ran: "installation, upgrade and removal, with pods" },
  { title: "kubectl", part: "kubectl", ran: "installation, manifests" },
  { title: "Helm", part: "helm 4", ran: "chart, installation" },
  { title: "Redis", part: "redis-server", ran: "all tests" },
  { title: "RedisJSON", part: "RedisJSON", ran: "all tests, with Redis and with Valkey" },
  { title: "Valkey", part: "valkey-server", ran: "some tests of the store and the HTTP API" },
  { title: "Node", part: "node", ran: "all tests" },
  { title: "Chromium", part: "chromium", ran: "console and other pages, client for browsers" },
  { title: "nginx", part: "nginx", ran: "as a proxy in front" },
  { title: "Prometheus", part: "prometheus", ran: "metrics, alerts, dashboards" },
];

/** Why a run doesn't show that this tree works; undefined when it does. */
export function whyUnproved(run: FullRun | undefined, now: TreeState): string | undefined {
  return staleness(run, now) ?? (run?.failed === 0 ? undefined : "the last full run failed: run npm test again");
}

/**
 * Only what ran with this tree and passed is in it. `onKubernetes`: some tests on further versions
 * of Kubernetes.
 */
export function supportMatrix(run: FullRun | undefined, onKubernetes: readonly FullRun[], now: TreeState): string {
  const reason = whyUnproved(run, now);
  if (run === undefined || reason !== undefined) return `# Tested with\n\nNothing is known: ${reason}.\n`;
  const lines = rows.flatMap(({ title, part, ran }) => {
    const version = run.parts?.[part];
    return version === undefined ? [] : [`| ${title} | ${version} | ${ran} |`];
  });
  const further = onKubernetes
    .filter((other) => whyUnproved(other, now) === undefined)
    .map(({ passed, parts }) => {
      const version = parts?.["kube-apiserver"];
      return `| ${apiServer} | ${version} | ${passed} tests of custom resources, operator and chart |`;
    });
  lines.splice(1, 0, ...further.reverse());
  const counts = `${run.passed} tests passed on ${run.finished.slice(0, 10)}, with these versions and no others.`;
  return `# Tested with\n\n${counts}\n\n| what | version | what ran |\n|---|---|---|\n${lines.join("\n")}\n`;
}
