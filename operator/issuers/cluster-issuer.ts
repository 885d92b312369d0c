// Asks the API server for the issuer of this cluster's ServiceAccount tokens, and for its keys. Both are asked of the API server that the
// operator is connected with anyway: where the discovery document says that the keys are makes no difference.

import { ApiFailure, ApiUnreachable, type KubeDocuments } from "../kube/api.ts";
import { readDiscovery } from "./discovery.ts";
import { type FetchedIssuer, keysOf } from "./fetch-issuer.ts";
import { FetchFailure, maxBytes } from "./fetch-text.ts";

const paths = { discovery: "/.well-known/openid-configuration", keySet: "/openid/v1/jwks" } as const;
const keepMs = 3_600_000;
const maxUrlLength = 512;

/** Rejects with FetchFailure, or with the signal's reason. */
export async function fetchClusterIssuer(api: KubeDocuments, signal: AbortSignal): Promise<FetchedIssuer> {
  const discovery = readDiscovery(await document(api, paths.discovery, signal), () => false);
  if (!discovery.ok) throw new FetchFailure(discovery.fault);
  const { issuer: url } = discovery.value;
  if (url === "" || url.length > maxUrlLength) throw new FetchFailure("its discovery document names no usable issuer");
  return { url, ...keysOf(await document(api, paths.keySet, signal)), keepForMs: keepMs };
}

async function document(api: KubeDocuments, path: string, signal: AbortSignal): Promise<string> {
  try {
    const text = await api.getDocument(path, { signal, maxBytes });
    if (text === undefined) throw new FetchFailure(`the API server answered with more than ${maxBytes / 1024} KiB`);
    return text;
  } catch (error) {
    if (error instanceof ApiFailure) throw new FetchFailure(refusalOf(path, error.status), { cause: error });
    if (error instanceof ApiUnreachable) throw new FetchFailure("the API server does not answer", { cause: error });
    throw error;
  }
}

function refusalOf(path: string, status: number): string {
  const answered = `the API server answered GET ${path} with status ${status}`;
  return status === 403 ? `${answered}: the operator's ServiceAccount lacks the right to it` : answered;
}
