// Which cluster it is: the one that JSONPLANE_E2E_KUBECONFIG names, together with images that its
// nodes have or can pull; else one that comes and goes with this run (kind where Docker is, else a
// node of our own), with images packed here. KUBECONFIG itself is never looked at: it may name a
// cluster that somebody works with, and the journeys end by purging everything.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Cluster, downCluster, upCluster } from "../../tools/cluster/cluster.ts";
import { reserveClusterNumber } from "../../tools/cluster/reserve-number.ts";
import { packImage } from "../../tools/image/pack.ts";
import type { Environment } from "../../tools/parts/cache.ts";
import { type EarlierVersion, findEarlierVersion, upgradedFrom } from "../../tools/parts/earlier-version.ts";
import { chart } from "../support/chart/helm.ts";
import { imageBuild } from "../support/chart/image-build.ts";

/** A chart and the image that it rolls out. */
export interface Version {
  readonly chart: string;
  readonly image: string;
}

export interface ClusterInHand {
  readonly kubeconfig: string;
  /** What is installed first: tools/parts/earlier-version.ts says which. */
  readonly from: Version;
  /** This tree, under an image name of its own. */
  readonly to: Version;
  /** Image of Redis. */
  readonly redis: string;
  /** Whether the cluster is somebody else's. */
  readonly isKept: boolean;
  stop(): Promise<void>;
}

export async function takeCluster(env: Environment): Promise<ClusterInHand> {
  const { JSONPLANE_E2E_KUBECONFIG: kubeconfig, JSONPLANE_IMAGE: image } = env;
  if (kubeconfig && !image) {
    throw new Error("JSONPLANE_IMAGE is not set: name an image of jsonplane that the cluster's nodes have or can pull");
  }
  const part = await upgradedFrom(env);
  if (kubeconfig && image) {
    const earlier = env.JSONPLANE_E2E_FROM && part ? await findEarlierVersion(env, part) : undefined;
    return {
      kubeconfig,
      from: { chart: earlier?.chart ?? chart, image },
      to: { chart, image: env.JSONPLANE_NEXT_IMAGE ?? image },
      redis: env.JSONPLANE_REDIS_IMAGE ?? "redis:8.6",
      isKept: true,
      stop: async () => undefined,
    };
  }
  const earlier = part && (await findEarlierVersion(env, part));
  const { number, release } = await reserveClusterNumber();
  const stop = async (): Promise<void> => {
    await downCluster(env, number);
    release();
  };
  try {
    // Remains of a run that was killed: this number is reserved, so nobody uses them.
    await downCluster(env, number);
    const cluster = await upCluster(env, { number });
    return { kubeconfig: cluster.kubeconfig, ...(await loadVersions(cluster, earlier)), isKept: false, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function loadVersions(
  cluster: Cluster,
  earlier: EarlierVersion | undefined,
): Promise<Pick<ClusterInHand, "from" | "to" | "redis">> {
  const { built, jsonplane, redis } = imageBuild();
  await cluster.load(redis.file);
  await cluster.load(jsonplane.file);
  const versions = { to: { chart, image: jsonplane.name }, redis: redis.name };
  if (earlier) {
    await cluster.load(earlier.archive);
    return { ...versions, from: { chart: earlier.chart, image: earlier.image } };
  }
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-e2e-"));
  try {
    const same = await packImage("jsonplane", { folder, built, name: "jsonplane:e2e-from" });
    await cluster.load(same.file);
    return { ...versions, from: { chart, image: same.name } };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
