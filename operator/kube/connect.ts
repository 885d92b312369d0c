// Finds the API server: a kubeconfig that was named, else the pod's service account, else the kubeconfig that kubectl would
// take. Refuses with NoCluster, whose message says what to set.

import type { KubeApi } from "./api.ts";
import type { CredentialSource } from "./credentials.ts";
import type { CallObserved } from "./http-transport.ts";
import { hasServiceAccount, inCluster, serviceAccountFolder } from "./in-cluster.ts";
import { fromKubeconfig } from "./kubeconfig.ts";
import { createRestApi } from "./rest-api.ts";

export interface ConnectOptions {
  /** Path of a kubeconfig. */
  readonly kubeconfig?: string;
  readonly context?: string;
  /** Variables that Kubernetes and kubectl know: KUBECONFIG, KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly observe: (call: CallObserved) => void;
  readonly monotonic: () => number;
  readonly serviceAccount?: string;
}

export interface ConnectedApi {
  readonly api: KubeApi;
  /** The namespace of the kubeconfig's context, or of the pod. */
  readonly namespace: string;
}

export async function createKubeApi(options: ConnectOptions): Promise<ConnectedApi> {
  const source = await sourceFor(options);
  const { observe, monotonic } = options;
  await source.current(); // Fails now if something is wrong with them, not at the first call.
  return {
    api: createRestApi({ source, observe, monotonic }),
    namespace: source.namespace,
  };
}

/** The namespace that objects of the operator itself belong to by default. */
export async function namespaceOf(options: Omit<ConnectOptions, "observe">): Promise<string> {
  return (await sourceFor(options)).namespace;
}

function sourceFor(options: Omit<ConnectOptions, "observe">): Promise<CredentialSource> {
  const { kubeconfig, context, environment, monotonic, serviceAccount: folder = serviceAccountFolder } = options;
  const host = environment["KUBERNETES_SERVICE_HOST"];
  const named = [kubeconfig, context, environment["KUBECONFIG"]].some((text) => text !== undefined && text !== "");
  if (!named && host !== undefined && hasServiceAccount(folder)) {
    return inCluster({ host, port: environment["KUBERNETES_SERVICE_PORT"] ?? "443", folder, monotonic });
  }
  return fromKubeconfig({
    ...(kubeconfig !== undefined && { path: kubeconfig }),
    ...(context !== undefined && { context }),
    monotonic,
  });
}
