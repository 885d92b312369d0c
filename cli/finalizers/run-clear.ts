// Connects to the API server as kubectl would and clears finalizers there. What a person must mend is a sentence and exit
// code 1; a command line that leaves open which objects are meant is refused with 2.

import { createKubeApi } from "../../operator/kube/connect.ts";
import { apiServerOptions, whyNoApiServer } from "../api-server.ts";
import { clearFinalizers } from "./clear-finalizers.ts";
import type { ClearSettings } from "./settings.ts";

export async function runClear(settings: ClearSettings): Promise<number> {
  const { namespace, allNamespaces, kubeconfig } = settings;
  if ((namespace === undefined) === !allNamespaces) {
    process.stderr.write("jsonplane: finalizers clear needs either --namespace NAME or --all-namespaces\n");
    return 2;
  }
  try {
    const { api } = await createKubeApi({ ...apiServerOptions(kubeconfig), observe: () => undefined });
    try {
      return await clearFinalizers({ ...settings, api, out: (line) => void process.stdout.write(`${line}\n`) });
    } finally {
      await api.close();
    }
  } catch (error) {
    const why = whyNoApiServer(error);
    if (why === undefined) throw error;
    process.stderr.write(`jsonplane: ${why}\n`);
    return 1;
  }
}
