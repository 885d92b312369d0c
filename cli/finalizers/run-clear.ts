// Connects to the API server as kubectl would and clears finalizers there. What a person must mend is a sentence and exit
// code 1; a command line that leaves open which objects are meant is refused with 2.

import type { Kind } from "../../core/manifests/object.ts";
import { ApiUnreachable } from "../../operator/kube/api.ts";
import { createKubeApi } from "../../operator/kube/connect.ts";
import { NoCluster } from "../../operator/kube/credentials.ts";
import { clearFinalizers } from "./clear-finalizers.ts";

export interface ClearSettings {
  readonly namespace: string | undefined;
  readonly allNamespaces: boolean;
  readonly kind: Kind | undefined;
  readonly kubeconfig: string | undefined;
  readonly dryRun: boolean;
  readonly force: boolean;
}

export async function runClear(settings: ClearSettings): Promise<number> {
  const { namespace, allNamespaces, kubeconfig } = settings;
  if ((namespace === undefined) === !allNamespaces) {
    process.stderr.write("jsonplane: finalizers clear needs either --namespace NAME or --all-namespaces\n");
    return 2;
  }
  try {
    const { api } = await createKubeApi({
      ...(kubeconfig !== undefined && { kubeconfig }),
      environment: process.env,
      observe: () => undefined,
      monotonic: () => performance.now(),
    });
    try {
      return await clearFinalizers({ ...settings, api, out: (line) => void process.stdout.write(`${line}\n`) });
    } finally {
      await api.close();
    }
  } catch (error) {
    if (!(error instanceof NoCluster || error instanceof ApiUnreachable)) throw error;
    const what = error instanceof NoCluster ? "There is no way to an API server" : "The API server can't be reached";
    process.stderr.write(`jsonplane: ${what}: ${error.message}\n`);
    return 1;
  }
}
