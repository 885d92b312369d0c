// A real cluster for tests and for `make cluster`: kind where Docker and kind are, else a node of our own. JSONPLANE_CLUSTER=own
// or =kind decides otherwise. Refuses with PartMissing when neither can be had.

import type { Environment } from "../parts/cache.ts";
import { findKubectl } from "../parts/kubernetes.ts";
import { downKindCluster, kindIsHere, loadIntoKind, upKindCluster } from "./kind-cluster.ts";
import { downOwnCluster, loadImage, upOwnCluster } from "./own-cluster.ts";

export interface Cluster {
  readonly flavour: "kind" | "own";
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** A kubectl that suits it. */
  readonly kubectl: string;
  /** Makes the image of an archive known to the node. */
  load(archive: string): Promise<void>;
  /** Ends it and removes everything of it. */
  down(): Promise<void>;
}

/** Brings one up, or finds it up. Number 0 is `make cluster`'s; tests that want one for themselves take another. */
export async function upCluster(env: Environment, number = 0): Promise<Cluster> {
  const flavour = await chooseFlavour(env);
  const down = () => downCluster(env, number);
  if (flavour === "kind") {
    const place = await upKindCluster(env, number);
    const { path } = await findKubectl(env);
    return { flavour, kubeconfig: place.kubeconfig, kubectl: path, load: (file) => loadIntoKind(place, file), down };
  }
  const place = await upOwnCluster(env, number);
  const { path } = await findKubectl(env);
  return { flavour, kubeconfig: place.kubeconfig, kubectl: path, load: (file) => loadImage(place, file), down };
}

export async function downCluster(env: Environment, number = 0): Promise<void> {
  if ((await chooseFlavour(env)) === "kind") await downKindCluster(env, number);
  else await downOwnCluster(env, number);
}

async function chooseFlavour(env: Environment): Promise<"kind" | "own"> {
  const asked = env.JSONPLANE_CLUSTER;
  if (asked === "kind" || asked === "own") return asked;
  if (asked) throw new Error(`JSONPLANE_CLUSTER is ${asked}: it may be kind or own`);
  return (await kindIsHere(env)) ? "kind" : "own";
}
