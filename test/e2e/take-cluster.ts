// Which cluster it is: the one that JSONPLANE_E2E_KUBECONFIG names, together with images that its nodes have or can pull; else one that
// comes and goes with this run (kind where Docker is, else a node of our own), with images packed here. KUBECONFIG itself is never
// looked at: it may name a cluster that somebody works with, and the journeys end by purging everything.

import { type Cluster, upCluster } from "../../tools/cluster/cluster.ts";
import { packImage } from "../../tools/image/pack.ts";
import type { Environment } from "../../tools/parts/cache.ts";
import { buildForImage } from "../support/image-build.ts";

export interface ClusterInHand {
  readonly kubeconfig: string;
  readonly images: {
    readonly current: string;
    /** What is upgraded to: another name, which need not be another content. */
    readonly next: string;
    readonly redis: string;
  };
  stop(): Promise<void>;
}

/** Of this run's own cluster: `make cluster`'s stays as it is. */
const clusterNumber = 3;

export async function takeCluster(env: Environment): Promise<ClusterInHand> {
  const { JSONPLANE_E2E_KUBECONFIG: kubeconfig, JSONPLANE_IMAGE: current } = env;
  if (kubeconfig && !current) {
    throw new Error("JSONPLANE_IMAGE is not set: name an image of jsonplane that the cluster's nodes have or can pull");
  }
  if (kubeconfig && current) {
    const images = {
      current,
      next: env.JSONPLANE_NEXT_IMAGE ?? current,
      redis: env.JSONPLANE_REDIS_IMAGE ?? "redis:8.6",
    };
    return { kubeconfig, images, stop: async () => undefined };
  }
  const cluster = await upCluster(env, clusterNumber);
  try {
    return { kubeconfig: cluster.kubeconfig, images: await loadImages(cluster), stop: () => cluster.down() };
  } catch (error) {
    await cluster.down();
    throw error;
  }
}

async function loadImages(cluster: Cluster): Promise<ClusterInHand["images"]> {
  const { built, folder, remove } = await buildForImage();
  try {
    const load = async (which: "jsonplane" | "redis", name: string): Promise<string> => {
      const image = await packImage(which, { folder, built, name });
      await cluster.load(image.file);
      return image.name;
    };
    return {
      current: await load("jsonplane", "jsonplane:e2e"),
      next: await load("jsonplane", "jsonplane:e2e-next"),
      redis: await load("redis", "jsonplane-redis:e2e"),
    };
  } finally {
    await remove();
  }
}
