// How a command connects to the API server, as kubectl or a pod does, and which namespace is the
// operator's there.

import { systemMonotonic } from "../core/timers.ts";
import { ApiUnreachable } from "../operator/kube/api.ts";
import { type ConnectOptions, NoCluster, namespaceOf } from "../operator/kube/connect.ts";

/** The options of createKubeApi without its observer. */
export type ApiServerOptions = Omit<ConnectOptions, "observe">;

/** By the kubeconfig that --kubeconfig names, else as this process's environment says. */
export function apiServerOptions(kubeconfig: string | undefined): ApiServerOptions {
  return { ...(kubeconfig !== undefined && { kubeconfig }), environment: process.env, monotonic: systemMonotonic };
}

/** In a pod the service account's. A kubeconfig's context names the person's namespace. */
export async function operatorNamespace(options: ApiServerOptions): Promise<string> {
  const inPod = options.environment["KUBERNETES_SERVICE_HOST"] !== undefined && options.kubeconfig === undefined;
  return inPod ? await namespaceOf(options) : "jsonplane-system";
}

/** In a sentence; undefined when the error is another one. */
export function whyNoApiServer(error: unknown): string | undefined {
  if (error instanceof NoCluster) return `There is no way to an API server: ${error.message}`;
  if (error instanceof ApiUnreachable) return `The API server can't be reached: ${error.message}`;
  return undefined;
}
