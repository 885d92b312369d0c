// The real Kubernetes that tests and `make demo` start: kube-apiserver with its etcd, kube-controller-manager, and a kubectl that
// suits the server. Each is found by the environment (with envtest's names), on the PATH, in the cache, or built once with Go.
// Refuses with PartMissing, which says how to get them.

import { type FoundProgram, findProgram, type ProgramSource } from "./built-program.ts";
import type { Environment } from "./cache.ts";
import { isAtLeast, isWithinOneMinor, type Version } from "./program-version.ts";

export const release = "1.36.3";
const etcdRelease = "3.7.3";
/** The oldest Kubernetes that jsonplane is for, and the oldest etcd that such a server works well with. */
const oldest = "1.33";
const oldestEtcd = "3.5";
const assets = "KUBEBUILDER_ASSETS";

const ways: readonly string[] = [
  "install Go 1.21 or newer (Debian, Ubuntu: sudo apt-get install golang; macOS: brew install go) and run this again",
  "or fetch the programs with setup-envtest, and set KUBEBUILDER_ASSETS to their folder",
  "or set TEST_ASSET_KUBE_APISERVER, TEST_ASSET_ETCD, TEST_ASSET_KUBECTL and JSONPLANE_KUBE_CONTROLLER_MANAGER to their paths",
];

const stamp = [`gitVersion=v${release}`, "gitMajor=1", `gitMinor=${release.split(".")[1]}`, "gitTreeState=clean"]
  .map((setting) => `-X k8s.io/component-base/version.${setting}`)
  .join(" ");

/** A program of the same release as the others. */
export function kubernetesProgram(name: string, variable: string, takes: string): ProgramSource {
  return {
    name,
    module: "kubernetes",
    package: `k8s.io/kubernetes/cmd/${name}`,
    linkerFlags: stamp,
    takes,
    ways,
    variables: [variable],
    folderVariable: assets,
    versionArgs: name === "kubectl" ? ["version", "--client"] : ["--version"],
    version: release,
    cached: `kubernetes-${release}`,
  };
}

const server = kubernetesProgram("kube-apiserver", "TEST_ASSET_KUBE_APISERVER", "some 4 minutes, once");
const kubectl = kubernetesProgram("kubectl", "TEST_ASSET_KUBECTL", "some 30 seconds, once");
const manager = kubernetesProgram(
  "kube-controller-manager",
  "JSONPLANE_KUBE_CONTROLLER_MANAGER",
  "some 2 minutes, once",
);
const etcd: ProgramSource = {
  name: "etcd",
  module: "etcd",
  package: "go.etcd.io/etcd/server/v3",
  takes: "some 30 seconds, once",
  ways,
  variables: ["TEST_ASSET_ETCD"],
  folderVariable: assets,
  versionArgs: ["--version"],
  version: etcdRelease,
  cached: `etcd-${etcdRelease}`,
};

export interface KubernetesPrograms {
  readonly kubeApiserver: string;
  readonly etcd: string;
  readonly kubectl: string;
  readonly kubeControllerManager: string;
  /** Of kube-apiserver: `1.36.3`. */
  readonly version: string;
}

export async function findKubernetes(env: Environment): Promise<KubernetesPrograms> {
  // One after the other: a build takes every core.
  const api = await findProgram(env, server, (version) => isAtLeast(version, oldest));
  const suitsServer = (version: Version) => isAtLeast(version, oldest) && isWithinOneMinor(version, api.version);
  const storage = await findProgram(env, etcd, (version) => isAtLeast(version, oldestEtcd));
  const client = await findProgram(env, kubectl, suitsServer);
  const controllers = await findProgram(env, manager, suitsServer);
  return {
    kubeApiserver: api.path,
    etcd: storage.path,
    kubectl: client.path,
    kubeControllerManager: controllers.path,
    version: api.version.text,
  };
}

/** A kubectl alone, for who has a cluster already. */
export async function findKubectl(env: Environment): Promise<FoundProgram> {
  return findProgram(env, kubectl, (version) => isAtLeast(version, oldest));
}
