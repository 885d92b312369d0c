// A process as in a pod: with a ServiceAccount's token where Kubernetes mounts it in every pod, and
// the variables that name the API server. The mount is the process's own (mount_namespaces(7)):
// nothing of the machine changes.

import { copyFile, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serviceAccountFolder } from "../../../operator/kube/connect.ts";
import type { TestApiServer } from "../kubernetes/api-server/api-server-access.ts";
import { serviceAccountToken } from "../kubernetes/api-server/api-server-objects.ts";

export interface Pod {
  /** Runs what follows it in the pod. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /**
   * Replaces the token's file by a new one of the ServiceAccount as it is now, as the kubelet does
   * for a new pod.
   */
  renewToken(): Promise<void>;
  close(): Promise<void>;
}

/** Of a ServiceAccount `pod` that may do everything in the cluster. */
export async function createPod(api: TestApiServer, namespace: string): Promise<Pod> {
  const serviceAccount = "pod";
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-pod-"));
  const renewToken = async (): Promise<void> => {
    const token = await serviceAccountToken(api, namespace, serviceAccount);
    await writeFile(join(folder, "next"), token, { mode: 0o600 });
    await rename(join(folder, "next"), join(folder, "token"));
  };
  await renewToken();
  await api.kubectl([
    ...["create", "clusterrolebinding", serviceAccount, "--clusterrole=cluster-admin"],
    `--serviceaccount=${namespace}:${serviceAccount}`,
  ]);
  await writeFile(join(folder, "namespace"), namespace);
  await copyFile(api.certificate, join(folder, "ca.crt"));
  const { hostname, port } = new URL(api.url);
  const script = `mount -t tmpfs tmpfs /run && mkdir -p ${serviceAccountFolder} && mount --bind "$0" ${serviceAccountFolder} && exec "$@"`;
  return {
    command: ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, folder],
    env: { KUBECONFIG: "", KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port },
    renewToken,
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
