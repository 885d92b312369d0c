// The operator's own client, connected to a fake API server.

import type { KubeApi } from "../../../operator/kube/api.ts";
import { serverUrl } from "../../../operator/kube/connect.ts";
import type {
  CallObserved,
  CredentialSource,
  Credentials,
  HttpTransportLimits,
} from "../../../operator/kube/http-transport.ts";
import { createRestApi } from "../../../operator/kube/rest-api.ts";

export interface FakeApiClientOptions {
  readonly source?: CredentialSource;
  readonly observe?: (call: CallObserved) => void;
  readonly limits?: Partial<HttpTransportLimits>;
}

export function fakeApiClient(server: { readonly url: string }, options: FakeApiClientOptions = {}): KubeApi {
  return createRestApi({
    source: options.source ?? fixedCredentials({ server: serverUrl(server.url), headers: {}, tls: {} }),
    observe: options.observe ?? (() => undefined),
    monotonic: () => performance.now(),
    ...(options.limits !== undefined && { limits: options.limits }),
  });
}

export function fixedCredentials(credentials: Credentials): CredentialSource {
  return { namespace: "default", current: async () => credentials, forget: () => undefined };
}
