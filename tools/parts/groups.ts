// Which parts each command uses. A group is a kind of test (a folder below test/) or a command. A
// part that a command uses and its group doesn't name shows as PartMissing in a test.

import { chooseFlavour } from "../cluster/flavour.ts";
import { machineParts, requireNodeMachine } from "../cluster/machine.ts";
import { bringParts } from "./bring-parts.ts";
import type { Environment } from "./cache.ts";
import { chromium } from "./chromium.ts";
import { coredns, kubelet, kubeProxy, kubeRouter, kubeScheduler, metricsServer, pause } from "./cluster-programs.ts";
import { upgradedFrom } from "./earlier-version.ts";
import { foreignCrds } from "./foreign-crds.ts";
import { helm, helm3 } from "./helm.ts";
import { imageBase, platforms } from "./image-base.ts";
import { etcd, kubeApiserver, kubeControllerManager, kubectl } from "./kubernetes.ts";
import { lua } from "./lua.ts";
import { nginx } from "./nginx.ts";
import { openapiTypescript } from "./openapi-typescript.ts";
import type { Part } from "./part.ts";
import { promLabelProxy } from "./prom-label-proxy.ts";
import { prometheus } from "./prometheus.ts";
import { redisJson } from "./redis-json.ts";
import { redisServer } from "./redis-server.ts";
import { s3Server } from "./s3.ts";
import { schemathesis } from "./schemathesis.ts";
import { valkeyServer } from "./valkey-server.ts";
import { wrk } from "./wrk.ts";

const redis: readonly Part[] = [redisServer, redisJson];
/** The longest build first. */
const kubernetes: readonly Part[] = [kubeApiserver, kubeControllerManager, etcd, kubectl];

const release: readonly Part[] = [...platforms.map(imageBase), kubectl, helm];

const fixed = {
  unit: [],
  meta: [],
  store: redis,
  http: redis,
  security: redis,
  valkey: [...redis, valkeyServer],
  process: [...redis, ...kubernetes, chromium, nginx, openapiTypescript, s3Server],
  operator: [...redis, ...kubernetes, helm],
  chart: [...kubernetes, helm, lua, foreignCrds],
  kubernetes: [...redis, ...kubernetes, helm, lua, foreignCrds],
  observability: [...redis, ...kubernetes, prometheus, promLabelProxy],
  demo: [...redis, ...kubernetes],
  chaos: [...redis, ...kubernetes],
  soak: [...redis, ...kubernetes],
  fuzz: [...redis, ...kubernetes],
  mutations: [...redis, ...kubernetes],
  "fuzz openapi": [...redis, schemathesis],
  bench: [...redis, wrk],
  "bench operator": [...redis, ...kubernetes],
  "draw:dashboards": [...redis, ...kubernetes, prometheus, chromium],
  generate: [helm],
  release,
} as const satisfies Readonly<Record<string, readonly Part[]>>;

type FixedGroup = keyof typeof fixed;

/** Groups that bring up a cluster: what they use besides, by its flavour, says `clusterParts`. */
const clusterGroups = {
  image: [...redis, ...kubernetes, ...release],
  e2e: [...redis, helm],
  cluster: [metricsServer],
} as const satisfies Readonly<Record<string, readonly Part[]>>;

type ClusterGroup = keyof typeof clusterGroups;

/** Kinds of tests that a commit must pass. */
const testGroups = [
  ...["unit", "meta", "store", "http", "security", "process", "operator", "chart", "observability"],
  ...["valkey", "image", "e2e"],
] as readonly (FixedGroup | ClusterGroup)[];

const composed = {
  test: testGroups,
  nightly: [...testGroups, "chaos", "soak", "fuzz", "fuzz openapi", "mutations"] as readonly (
    | FixedGroup
    | ClusterGroup
  )[],
} as const;

export type PartGroup = FixedGroup | ClusterGroup | keyof typeof composed;

export const partGroups: readonly PartGroup[] = [
  ...(Object.keys(composed) as readonly (keyof typeof composed)[]),
  ...(Object.keys(fixed) as readonly FixedGroup[]),
  ...(Object.keys(clusterGroups) as readonly ClusterGroup[]),
];

/** What a script does before anything else: its parts are there, and the environment names them. */
export async function bringPartsOf(group: PartGroup): Promise<void> {
  await bringParts(process.env, await partsOf(group, process.env));
}

/**
 * The parts of the group `kubernetes` are there, of that minor version; returns the environment
 * that names them.
 */
export async function bringKubernetes(minor: string): Promise<Environment> {
  const env: Record<string, string | undefined> = { ...process.env, KUBEBUILDER_ASSETS: "" };
  // What another parts step has named is of the newest version.
  for (const { variable } of kubernetes) if (variable !== undefined) delete env[variable];
  env.JSONPLANE_KUBERNETES_VERSION = minor;
  await bringParts(env, fixed.kubernetes);
  return env;
}

/** Of those that are here and have one, by name, and of Node. */
export async function partVersions(
  group: PartGroup,
  env: Environment = process.env,
): Promise<Readonly<Record<string, string>>> {
  const versions: Record<string, string> = { node: process.versions.node };
  for (const part of await partsOf(group, env)) {
    const found = await part.find(env);
    const version = found && (await part.versionOf(found));
    if (version !== undefined) versions[part.name] = version;
  }
  return versions;
}

/** Each part once. Throws PartMissing where this machine can't be what the group needs. */
export async function partsOf(group: PartGroup, env: Environment): Promise<readonly Part[]> {
  if (group === "test") return joined(composed.test, env);
  if (group === "nightly") return unique([...(await joined(composed.nightly, env)), helm3]);
  // The journeys on a cluster that is there bring up none, and pack no images.
  if (group === "e2e" && env.JSONPLANE_E2E_KUBECONFIG) return await foreignClusterParts(env);
  if (isClusterGroup(group)) {
    const earlier = group === "e2e" ? await upgradedFrom(env) : undefined;
    return unique([...clusterGroups[group], ...(await clusterParts(env)), ...(earlier ? [earlier] : [])]);
  }
  return fixed[group];
}

/** Of an earlier version that is named, the chart is what is used. */
async function foreignClusterParts(env: Environment): Promise<readonly Part[]> {
  const earlier = env.JSONPLANE_E2E_FROM ? await upgradedFrom(env) : undefined;
  return [kubectl, helm, ...(earlier ? [earlier] : [])];
}

function isClusterGroup(group: string): group is ClusterGroup {
  return group in clusterGroups;
}

async function joined(groups: readonly (FixedGroup | ClusterGroup)[], env: Environment): Promise<readonly Part[]> {
  return unique((await Promise.all(groups.map((group) => partsOf(group, env)))).flat());
}

function unique(parts: readonly Part[]): readonly Part[] {
  return [...new Map(parts.map((part) => [part.name, part])).values()];
}

async function clusterParts(env: Environment): Promise<readonly Part[]> {
  if ((await chooseFlavour(env)) === "kind") return [kubectl];
  requireNodeMachine();
  return [...kubernetes, kubelet, kubeScheduler, kubeProxy, kubeRouter, coredns, pause, ...machineParts];
}
