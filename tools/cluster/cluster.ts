// A real cluster for tests and for `make cluster`: kind, or a node of our own (flavour.ts). Refuses
// with PartMissing when a part of it isn't there.

import type { Environment } from "../parts/cache.ts";
import { kubectl } from "../parts/kubernetes.ts";
import { requirePart } from "../parts/part.ts";
import { type ClusterFlavour, chooseFlavour } from "./flavour.ts";
import { downKindCluster, loadIntoKind, upKindCluster } from "./kind-cluster.ts";
import { type ClusterOptions, downOwnCluster, loadImage, upOwnCluster } from "./own-cluster.ts";

export interface Cluster {
  readonly flavour: ClusterFlavour;
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** A kubectl that suits it. */
  readonly kubectl: string;
  /** Makes the image of an archive known to the node. */
  load(archive: string): Promise<void>;
  /** Ends it and removes everything of it. */
  down(): Promise<void>;
}

/** Brings one up, or finds it up. */
export async function upCluster(
  env: Environment,
  { number = 0, metrics = false }: ClusterOptions = {},
): Promise<Cluster> {
  const flavour = await chooseFlavour(env);
  const kubectlPath = await requirePart(env, kubectl);
  const down = () => downCluster(env, number);
  if (flavour === "kind") {
    const layout = await upKindCluster(env, number);
    const load = (file: string) => loadIntoKind(layout, file);
    return { flavour, kubeconfig: layout.kubeconfig, kubectl: kubectlPath, load, down };
  }
  const layout = await upOwnCluster(env, { number, metrics });
  const load = (file: string) => loadImage(layout, file);
  return { flavour, kubeconfig: layout.kubeconfig, kubectl: kubectlPath, load, down };
}

export async function downCluster(env: Environment, number = 0): Promise<void> {
  if ((await chooseFlavour(env)) === "kind") await downKindCluster(env, number);
  else await downOwnCluster(env, number);
}
