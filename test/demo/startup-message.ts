// Turns a running demo into the text that it starts with: how to reach it with kubectl, where the
// API is, lines to try.

import type { Replica } from "../support/fleet/replica.ts";
import type { TestApiServer } from "../support/kubernetes/api-server/api-server-access.ts";

export interface DemoParts {
  readonly api: TestApiServer;
  readonly kubeconfig: string;
  readonly replicas: readonly Replica[];
}

export async function startupMessage({ api, kubeconfig, replicas }: DemoParts): Promise<readonly string[]> {
  const objects = await api.kubectl(["get", "jproj,jres,juser,jkey,jroot"]);
  const [first, second] = replicas;
  const kubectl = api.programs.kubectl;
  return [
    "",
    ...objects.trimEnd().split("\n"),
    "",
    "The cluster: in another terminal",
    `  export KUBECONFIG=${kubeconfig}`,
    `  alias kubectl=${kubectl}`,
    "  kubectl get jsonplane",
    "  kubectl describe jres books",
    "",
    "The API: two replicas that serve the same and take each other's tokens, and their usage figures",
    ...replicas.map(({ origin, adminUrl }) => `  ${origin}/default/bookshop   ${adminUrl}/usage`),
    "",
    "Try",
    `  KEY=$(${kubectl} --kubeconfig ${kubeconfig} get secret back-office-api-key -o jsonpath='{.data.apiKey}' | base64 -d)`,
    `  curl -sS ${first?.origin}/default/bookshop/api/books -H "Authorization: apikey $KEY" -d '{"title":"Emma","author":{"name":"Jane Austen"},"price":9.5}'; echo`,
    `  curl -sS "${second?.origin}/default/bookshop/api/books?_sort=-price"; echo`,
    `  curl -sS ${first?.origin}/default/feature-flags/json/flags; echo`,
    "",
    "Edit what is there, or apply manifests of your own: it is live on both replicas within a second. Ctrl-C stops all of it;",
    "nothing is kept.",
    "",
    "Ready",
  ];
}
