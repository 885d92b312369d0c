// Where one cluster of our own lives on this machine: its folder, its addresses, its names. Pure.

import { join } from "node:path";
import type { Environment } from "../parts/cache.ts";

export interface ClusterLayout {
  /** Everything it writes. */
  readonly folder: string;
  /** Short name of what the machine knows it by: link, control group. */
  readonly name: string;
  /** This machine's address on the link to the node, and the node's. */
  readonly hostAddress: string;
  readonly nodeAddress: string;
  /** On 127.0.0.1: leads to the node's API server. */
  readonly port: number;
  readonly kubeconfig: string;
  readonly containerd: string;
}

export const podNetwork = "10.244.0.0/24";
export const serviceNetwork = "10.96.0.0/16";
export const apiService = "10.96.0.1";
export const dnsService = "10.96.0.10";
/** Of the API server in the node. */
export const apiPort = 6443;
export const nodeName = "jsonplane-node";

/** Number 0 is `make cluster`'s; tests take others, so that they leave it alone. */
export function clusterLayout(env: Environment, number = 0): ClusterLayout {
  const parent = env.JSONPLANE_CLUSTER_STATE || "/var/tmp/jsonplane-cluster";
  const folder = join(parent, String(number));
  return {
    folder,
    name: `jsonplane${number}`,
    hostAddress: `10.213.${number}.1`,
    nodeAddress: `10.213.${number}.2`,
    port: 16_500 + number,
    kubeconfig: join(folder, "kubeconfig"),
    containerd: join(folder, "containerd.sock"),
  };
}
