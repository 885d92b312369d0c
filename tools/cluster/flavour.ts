// Which kind of cluster is brought up here: kind where Docker and kind are, else a node of our own.
// JSONPLANE_CLUSTER=own or =kind decides otherwise.

import type { Environment } from "../parts/cache.ts";
import { kindIsHere } from "./kind-cluster.ts";

export type ClusterFlavour = "kind" | "own";

export async function chooseFlavour(env: Environment): Promise<ClusterFlavour> {
  const asked = env.JSONPLANE_CLUSTER;
  if (asked === "kind" || asked === "own") return asked;
  if (asked) throw new Error(`JSONPLANE_CLUSTER is ${asked}: it may be kind or own`);
  return (await kindIsHere(env)) ? "kind" : "own";
}
