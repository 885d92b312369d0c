// The real Kubernetes that tests and `make demo` start: kube-apiserver with its etcd,
// kube-controller-manager, and a kubectl that suits the server. Each is found by the environment
// (with envtest's names), on the PATH, in the cache, or built once with Go.

import { builtProgram, type ProgramSource } from "./built-program.ts";
import type { Environment } from "./cache.ts";
import { installGo } from "./go.ts";
import { type Part, requirePart } from "./part.ts";
import { isAtLeast, isWithinOneMinor, type Version, versionIn } from "./program-version.ts";

const release = "1.36.3";
const etcdRelease = "3.7.3";
/**
 * The oldest Kubernetes that jsonplane is for, and the oldest etcd that such a server works well
 * with.
 */
const oldest = "1.33";
const oldestEtcd = "3.5";
const assets = "KUBEBUILDER_ASSETS";

const ways: readonly string[] = [
  installGo,
  "or fetch the programs with setup-envtest, and set KUBEBUILDER_ASSETS to their folder",
  "or set TEST_ASSET_KUBE_APISERVER, TEST_ASSET_ETCD, TEST_ASSET_KUBECTL and JSONPLANE_KUBE_CONTROLLER_MANAGER to their paths",
];

const stamp = [`gitVersion=v${release}`, "gitMajor=1", `gitMinor=${release.split(".")[1]}`, "gitTreeState=clean"]
  .map((setting) => `-X k8s.io/component-base/version.${setting}`)
  .join(" ");

/** Where a program of Kubernetes is looked for, and how long its build takes. */
export type KubernetesProgram = Pick<ProgramSource, "name" | "takes" | "suits"> &
  Partial<Pick<ProgramSource, "ways" | "variable" | "folderVariable">>;

/** A program of Kubernetes, built from the same release as the others. */
export function kubernetesProgram(program: KubernetesProgram): Part {
  return builtProgram({
    module: "kubernetes",
    package: `k8s.io/kubernetes/cmd/${program.name}`,
    linkerFlags: stamp,
    ways,
    folderVariable: assets,
    versionArgs: program.name === "kubectl" ? ["version", "--client"] : ["--version"],
    version: release,
    cached: `kubernetes-${release}`,
    ...program,
  });
}

export const kubeApiserver = kubernetesProgram({
  name: "kube-apiserver",
  variable: "TEST_ASSET_KUBE_APISERVER",
  takes: "some 4 minutes",
  suits: (version) => isAtLeast(version, oldest),
});

/** Whether a program may work with the API server that is used: at most one minor version apart. */
export async function suitsApiServer(version: Version, env: Environment): Promise<boolean> {
  const server = await kubeApiserver.find(env);
  const text = server === undefined ? release : await kubeApiserver.versionOf(server);
  const used = versionIn(text ?? "");
  return used !== undefined && isAtLeast(version, oldest) && isWithinOneMinor(version, used);
}

export const kubectl = kubernetesProgram({
  name: "kubectl",
  variable: "TEST_ASSET_KUBECTL",
  takes: "some 30 seconds",
  suits: suitsApiServer,
});

export const kubeControllerManager = kubernetesProgram({
  name: "kube-controller-manager",
  variable: "JSONPLANE_KUBE_CONTROLLER_MANAGER",
  takes: "some 2 minutes",
  suits: suitsApiServer,
});

export const etcd = builtProgram({
  name: "etcd",
  module: "etcd",
  package: "go.etcd.io/etcd/server/v3",
  takes: "some 30 seconds",
  ways,
  variable: "TEST_ASSET_ETCD",
  folderVariable: assets,
  versionArgs: ["--version"],
  version: etcdRelease,
  cached: `etcd-${etcdRelease}`,
  suits: (version) => isAtLeast(version, oldestEtcd),
});

export interface KubernetesPrograms {
  readonly kubeApiserver: string;
  readonly etcd: string;
  readonly kubectl: string;
  readonly kubeControllerManager: string;
}

/** Throws PartMissing when one isn't there. */
export async function findKubernetes(env: Environment): Promise<KubernetesPrograms> {
  return {
    kubeApiserver: await requirePart(env, kubeApiserver),
    etcd: await requirePart(env, etcd),
    kubectl: await requirePart(env, kubectl),
    kubeControllerManager: await requirePart(env, kubeControllerManager),
  };
}
