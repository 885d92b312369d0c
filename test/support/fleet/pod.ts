// A process as in a pod: with a ServiceAccount's token where Kubernetes mounts it in every pod, and the variables that name the API server.
// The mount is the process's own (mount_namespaces(7)): nothing of the machine changes.

import { copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serviceAccountFolder } from "../../../operator/kube/in-cluster.ts";
import type { TestApiServer } from "../kubernetes/api-server/api-server-access.ts";

export interface Pod {
  /** Runs what follows it in the pod. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Of a ServiceAccount that may do everything in the cluster. */
export async function createPod(api: TestApiServer, namespace: string): Promise<Pod> {
  const serviceAccount = "bench";
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-pod-"));
  const token = await api.token({ namespace, serviceAccount });
  await api.kubectl([
    ...["create", "clusterrolebinding", serviceAccount, "--clusterrole=cluster-admin"],
    `--serviceaccount=${namespace}:${serviceAccount}`,
  ]);
  await writeFile(join(folder, "token"), token, { mode: 0o600 });
  await writeFile(join(folder, "namespace"), namespace);
  await copyFile(api.certificate, join(folder, "ca.crt"));
  const { hostname, port } = new URL(api.url);
  const script = `mount -t tmpfs tmpfs /run && mkdir -p ${serviceAccountFolder} && cp "$0"/* ${serviceAccountFolder} && exec "$@"`;
  return {
    command: ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, folder],
    env: { KUBECONFIG: "", KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
