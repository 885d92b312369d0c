// The real Kubernetes that tests and `make demo` start: kube-apiserver with its etcd,
// kube-controller-manager, and a kubectl that suits the server. Each is found by the environment
// (with envtest's names), on the PATH, in the cache, or built once with Go.
// JSONPLANE_KUBERNETES_VERSION chooses another minor version than the newest; a program of the PATH
// then has to be of that one.

import { builtProgram, type ProgramSource } from "./built-program.ts";
import type { Environment } from "./cache.ts";
import { installGo } from "./go.ts";
import { type Part, partMissing, requirePart } from "./part.ts";
import { isAtLeast, isWithinOneMinor, type Version, versionIn } from "./program-version.ts";

/**
 * What can be built, by minor version, the oldest that jsonplane is for first. All but the newest
 * have a `<minor>.mod` beside its go.mod.
 */
const releases: Readonly<Record<string, string>> = {
  "1.30": "1.30.14",
  "1.33": "1.33.13",
  "1.34": "1.34.4",
  "1.35": "1.35.4",
  "1.36": "1.36.3",
};
export const kubernetesMinors: readonly string[] = Object.keys(releases);
const oldest = kubernetesMinors[0] ?? "";
const newest = kubernetesMinors.at(-1) ?? "";
const etcdRelease = "3.7.3";
/** The oldest etcd that such a server works well with. */
const oldestEtcd = "3.5";
const assets = "KUBEBUILDER_ASSETS";
const minorVariable = "JSONPLANE_KUBERNETES_VERSION";

const ways: readonly string[] = [
  installGo,
  "or fetch the programs with setup-envtest, and set KUBEBUILDER_ASSETS to their folder",
  "or set TEST_ASSET_KUBE_APISERVER, TEST_ASSET_ETCD, TEST_ASSET_KUBECTL and JSONPLANE_KUBE_CONTROLLER_MANAGER to their paths",
];

/** Throws PartMissing where the environment asks for one that isn't built. */
function minorOf(env: Environment): string {
  const minor = env[minorVariable] || newest;
  if (kubernetesMinors.includes(minor)) return minor;
  throw partMissing(`${minorVariable} is ${minor}: it may be ${kubernetesMinors.join(", ")}`, ways.slice(1));
}

function stamp(release: string): string {
  const [, minor] = release.split(".");
  return [`gitVersion=v${release}`, "gitMajor=1", `gitMinor=${minor}`, "gitTreeState=clean"]
    .map((setting) => `-X k8s.io/component-base/version.${setting}`)
    .join(" ");
}

/** Where a program of Kubernetes is looked for, and how long its build takes. */
export type KubernetesProgram = Pick<ProgramSource, "name" | "takes" | "suits"> &
  Partial<Pick<ProgramSource, "ways" | "variable" | "folderVariable">>;

/** A program of Kubernetes, built from the same release as the others. */
export function kubernetesProgram(program: KubernetesProgram): Part {
  const ofMinor = (minor: string): Part => {
    const release = releases[minor] ?? "";
    return builtProgram({
      module: "kubernetes",
      modFile: minor === newest ? "go.mod" : `${minor}.mod`,
      package: `k8s.io/kubernetes/cmd/${program.name}`,
      linkerFlags: stamp(release),
      ways,
      folderVariable: assets,
      versionArgs: program.name === "kubectl" ? ["version", "--client"] : ["--version"],
      version: release,
      cached: `kubernetes-${release}`,
      ...program,
    });
  };
  return {
    ...ofMinor(newest),
    find: async (env) => ofMinor(minorOf(env)).find(env),
    bring: async (env, options) => ofMinor(minorOf(env)).bring(env, options),
  };
}

export const kubeApiserver = kubernetesProgram({
  name: "kube-apiserver",
  variable: "TEST_ASSET_KUBE_APISERVER",
  takes: "some 4 minutes",
  suits: (version, env) =>
    env[minorVariable] ? `${version.major}.${version.minor}` === minorOf(env) : isAtLeast(version, oldest),
});

/** Whether a program may work with the API server that is used: at most one minor version apart. */
export async function suitsApiServer(version: Version, env: Environment): Promise<boolean> {
  const server = await kubeApiserver.find(env);
  const text = server === undefined ? releases[minorOf(env)] : await kubeApiserver.versionOf(server);
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
