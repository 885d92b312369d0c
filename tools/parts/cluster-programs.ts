// The programs that make a node of a machine, in addition to those of kubernetes.ts: scheduler,
// kubelet, kube-proxy, kube-router, CoreDNS, metrics-server and the pause program. Each is found in
// the folder that the environment names, on the PATH, in the cache, or built once with Go.

import { builtProgram } from "./built-program.ts";
import type { Environment } from "./cache.ts";
import { findKubernetes, type KubernetesPrograms, kubernetesProgram, suitsApiServer } from "./kubernetes.ts";
import { requirePart } from "./part.ts";

const folderVariable = "JSONPLANE_CLUSTER_PROGRAMS";
const ways: readonly string[] = [
  "install Go 1.21 or newer (Debian, Ubuntu: sudo apt-get install golang) and run this again",
  `or set ${folderVariable} to a folder that holds kube-scheduler, kubelet, kube-proxy, kube-router, coredns and metrics-server`,
  "or use a cluster of your own: kind, or any that a kubeconfig points to",
];
const dnsRelease = "1.12.4";
const metricsRelease = "0.9.0";

const ofTheNode = { ways, folderVariable, suits: suitsApiServer };
export const kubeScheduler = kubernetesProgram({ ...ofTheNode, name: "kube-scheduler", takes: "some 30 seconds" });
export const kubelet = kubernetesProgram({ ...ofTheNode, name: "kubelet", takes: "some 2 minutes" });
export const kubeProxy = kubernetesProgram({ ...ofTheNode, name: "kube-proxy", takes: "some 30 seconds" });

export const coredns = builtProgram({
  name: "coredns",
  module: "coredns",
  package: ".",
  takes: "some 30 seconds",
  ways,
  folderVariable,
  versionArgs: ["-version"],
  version: dnsRelease,
  cached: `coredns-${dnsRelease}`,
  suits: () => true,
});

/** Enforces NetworkPolicies; it routes nothing here. It says its path before its version. */
export const kubeRouter = builtProgram({
  name: "kube-router",
  module: "kube-router",
  package: "github.com/cloudnativelabs/kube-router/v2/cmd/kube-router",
  takes: "some 2 minutes",
  ways,
  folderVariable,
  versionArgs: [],
  cached: "kube-router-2.1.0",
  suits: () => false,
});

/** Only `make cluster` has it, for `kubectl top` and autoscaling; clusters of tests go without. */
export const metricsServer = builtProgram({
  name: "metrics-server",
  module: "metrics-server",
  package: "sigs.k8s.io/metrics-server/cmd/metrics-server",
  linkerFlags: `-X k8s.io/client-go/pkg/version.gitVersion=v${metricsRelease}`,
  takes: "some 2 minutes",
  ways,
  folderVariable,
  versionArgs: ["--version"],
  version: metricsRelease,
  cached: `metrics-server-${metricsRelease}`,
  suits: () => true,
});

/** Holds a pod's namespaces. It has no version of its own. */
export const pause = builtProgram({
  name: "pause",
  module: "pause",
  package: ".",
  takes: "a moment",
  ways,
  versionArgs: [],
  cached: "pause-1",
  suits: () => false,
});

export interface ClusterPrograms extends KubernetesPrograms {
  readonly kubeScheduler: string;
  readonly kubelet: string;
  readonly kubeProxy: string;
  readonly kubeRouter: string;
  readonly coredns: string;
  readonly pause: string;
}

/** Throws PartMissing when one isn't there. */
export async function findClusterPrograms(env: Environment): Promise<ClusterPrograms> {
  return {
    ...(await findKubernetes(env)),
    kubeScheduler: await requirePart(env, kubeScheduler),
    kubelet: await requirePart(env, kubelet),
    kubeProxy: await requirePart(env, kubeProxy),
    kubeRouter: await requirePart(env, kubeRouter),
    coredns: await requirePart(env, coredns),
    pause: await requirePart(env, pause),
  };
}
