// The programs that make a node of a machine, beside those of kubernetes.ts: scheduler, kubelet, kube-proxy, CoreDNS,
// metrics-server and the pause program. Each is found by the environment, on the PATH, in the cache, or built once with Go.
// Refuses with PartMissing, which says how to get them.

import { join } from "node:path";
import { findProgram, type ProgramSource } from "./built-program.ts";
import { cachedFolder, cacheFolder, type Environment } from "./cache.ts";
import { buildWithGo, type GoBuild } from "./go.ts";
import { findKubernetes, type KubernetesPrograms, kubernetesProgram, release } from "./kubernetes.ts";
import { isWithinOneMinor, type Version, versionIn } from "./program-version.ts";

const assets = "JSONPLANE_CLUSTER_PROGRAMS";
const ways: readonly string[] = [
  "install Go 1.21 or newer (Debian, Ubuntu: sudo apt-get install golang) and run this again",
  `or set ${assets} to a folder that holds kube-scheduler, kubelet, kube-proxy, coredns and metrics-server`,
  "or use a cluster of your own: kind, or any that a kubeconfig points to",
];
const dnsRelease = "1.12.4";
const metricsRelease = "0.9.0";

function ofTheNode(name: string, takes: string): ProgramSource {
  return { ...kubernetesProgram(name, "", takes), ways, variables: [], folderVariable: assets };
}

const scheduler = ofTheNode("kube-scheduler", "some 30 seconds, once");
const kubelet = ofTheNode("kubelet", "some 2 minutes, once");
const proxy = ofTheNode("kube-proxy", "some 30 seconds, once");
const dns: ProgramSource = {
  name: "coredns",
  module: "coredns",
  package: ".",
  takes: "some 30 seconds, once",
  ways,
  variables: [],
  folderVariable: assets,
  versionArgs: ["-version"],
  version: dnsRelease,
  cached: `coredns-${dnsRelease}`,
};
const metrics: ProgramSource = {
  name: "metrics-server",
  module: "metrics-server",
  package: "sigs.k8s.io/metrics-server/cmd/metrics-server",
  linkerFlags: `-X k8s.io/client-go/pkg/version.gitVersion=v${metricsRelease}`,
  takes: "some 2 minutes, once",
  ways,
  variables: [],
  folderVariable: assets,
  versionArgs: ["--version"],
  version: metricsRelease,
  cached: `metrics-server-${metricsRelease}`,
};
const pause: GoBuild = { name: "pause", module: "pause", package: ".", takes: "a moment, once", ways };

export interface ClusterPrograms extends KubernetesPrograms {
  readonly kubeScheduler: string;
  readonly kubelet: string;
  readonly kubeProxy: string;
  readonly coredns: string;
  readonly metricsServer: string;
  readonly pause: string;
}

export async function findClusterPrograms(env: Environment): Promise<ClusterPrograms> {
  const kubernetes = await findKubernetes(env);
  const server = versionIn(kubernetes.version) ?? { major: 1, minor: 0, text: release };
  const suits = (version: Version) => isWithinOneMinor(version, server);
  // One after the other: a build takes every core.
  const found: Record<"kubeScheduler" | "kubelet" | "kubeProxy" | "coredns" | "metricsServer", string> = {
    kubeScheduler: (await findProgram(env, scheduler, suits)).path,
    kubelet: (await findProgram(env, kubelet, suits)).path,
    kubeProxy: (await findProgram(env, proxy, suits)).path,
    coredns: (await findProgram(env, dns, () => true)).path,
    metricsServer: (await findProgram(env, metrics, () => true)).path,
  };
  return { ...kubernetes, ...found, pause: await pauseProgram(env) };
}

/** Holds a pod's namespaces. It has no version of its own. */
async function pauseProgram(env: Environment): Promise<string> {
  const folder = await cachedFolder(join(cacheFolder(env), "pause-1"), "pause", (draft) =>
    buildWithGo(env, pause, join(draft, "pause")),
  );
  return join(folder, "pause");
}
