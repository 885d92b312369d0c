// Vitest's global set-up of the projects that need Kubernetes: finds its programs once, before the
// workers start, and tells them by environment where they are. Brings none: refuses with
// PartMissing, which says what a person can do.

import { findKubernetes } from "../../../tools/parts/kubernetes.ts";

export async function setup(): Promise<void> {
  const { kubeApiserver, etcd, kubectl, kubeControllerManager } = await findKubernetes(process.env);
  process.env.TEST_ASSET_KUBE_APISERVER = kubeApiserver;
  process.env.TEST_ASSET_ETCD = etcd;
  process.env.TEST_ASSET_KUBECTL = kubectl;
  process.env.JSONPLANE_KUBE_CONTROLLER_MANAGER = kubeControllerManager;
}
