// Which cluster it is: the one that JSONPLANE_E2E_KUBECONFIG names, together with images that its nodes have or can pull; else one that
// comes and goes with this run (kind where Docker is, else a node of our own), with images packed here. KUBECONFIG itself is never
// looked at: it may name a cluster that somebody works with, and the journeys end by purging everything.

import { type Cluster, upCluster } from "../../tools/cluster/cluster.ts";
import { packImage } from "../../tools/image/pack.ts";
import type { Environment } from "../../tools/parts/cache.ts";
import { chart } from "../support/helm.ts";
import { buildForImage } from "../support/image-build.ts";
import { type EarlierVersion, findEarlierVersion } from "./earlier-version.ts";

/** A chart and the image that it rolls out. */
export interface Version {
  readonly chart: string;
  readonly image: string;
}

export interface ClusterInHand {
  readonly kubeconfig: string;
  /** What is installed first: earlier-version.ts says which. */
  readonly from: Version;
  /** This tree, under an image name of its own. */
  readonly to: Version;
  /** Image of Redis. */
  readonly redis: string;
  stop(): Promise<void>;
}

/** Of this run's own cluster: `make cluster`'s stays as it is. */
const clusterNumber = 3;

export async function takeCluster(env: Environment): Promise<ClusterInHand> {
  const { JSONPLANE_E2E_KUBECONFIG: kubeconfig, JSONPLANE_IMAGE: image } = env;
  if (kubeconfig && !image) {
    throw new Error("JSONPLANE_IMAGE is not set: name an image of jsonplane that the cluster's nodes have or can pull");
  }
  if (kubeconfig && image) {
    const earlier = env.JSONPLANE_E2E_FROM ? await findEarlierVersion(env) : undefined;
    return {
      kubeconfig,
      from: { chart: earlier?.chart ?? chart, image },
      to: { chart, image: env.JSONPLANE_NEXT_IMAGE ?? image },
      redis: env.JSONPLANE_REDIS_IMAGE ?? "redis:8.6",
      stop: async () => earlier?.remove(),
    };
  }
  const earlier = await findEarlierVersion(env);
  const cluster = await upCluster(env, { number: clusterNumber });
  const stop = async (): Promise<void> => {
    await earlier?.remove();
    await cluster.down();
  };
  try {
    return { kubeconfig: cluster.kubeconfig, ...(await loadVersions(cluster, earlier)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function loadVersions(
  cluster: Cluster,
  earlier: EarlierVersion | undefined,
): Promise<Pick<ClusterInHand, "from" | "to" | "redis">> {
  const { built, folder, remove } = await buildForImage();
  try {
    const load = async (which: "jsonplane" | "redis", name: string): Promise<string> => {
      const image = await packImage(which, { folder, built, name });
      await cluster.load(image.file);
      return image.name;
    };
    const loadEarlier = async ({ chart: earlierChart, pack }: EarlierVersion): Promise<Version> => {
      const { file, name } = await pack();
      await cluster.load(file);
      return { chart: earlierChart, image: name };
    };
    return {
      from: earlier ? await loadEarlier(earlier) : { chart, image: await load("jsonplane", "jsonplane:e2e") },
      to: { chart, image: await load("jsonplane", "jsonplane:e2e-next") },
      redis: await load("redis", "jsonplane-redis:e2e"),
    };
  } finally {
    await remove();
  }
}
