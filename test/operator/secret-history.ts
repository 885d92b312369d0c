// Every value that Secrets of a namespace ever had, as a watch tells them one by one: nothing in
// between is missed while the API server runs. Refuses when the watch ends before the test ends it.

import { setTimeout as sleep } from "node:timers/promises";
import { systemMonotonic } from "../../core/timers.ts";
import { createKubeApi } from "../../operator/kube/connect.ts";
import { secretType } from "../../operator/kube/objects.ts";
import type { TestApiServer } from "../support/kubernetes/api-server/api-server-access.ts";

export interface SecretVersion {
  readonly name: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** Decoded. */
  readonly entries: Readonly<Record<string, string>>;
}

export interface SecretHistory {
  /** Oldest first; with what the server has until now. */
  versions(): Promise<readonly SecretVersion[]>;
  stop(): Promise<void>;
}

/** Time in which a watch tells of what has been written. */
const settleMs = 500;
const maxSeconds = 3_600;

export async function followSecrets(server: TestApiServer, namespace: string): Promise<SecretHistory> {
  const kubeconfig = await server.kubeconfig();
  const observe = () => undefined;
  const { api } = await createKubeApi({ kubeconfig, environment: {}, observe, monotonic: systemMonotonic });
  const { items, resourceVersion } = await api.list(secretType, { namespace, limit: 500 });
  const seen = items.map(versionOf);
  const stopping = new AbortController();
  let failure: unknown;
  const follow = async (): Promise<void> => {
    const request = { namespace, resourceVersion, timeoutSeconds: maxSeconds };
    for await (const event of api.watch(secretType, request, { signal: stopping.signal })) {
      if (event.type === "ADDED" || event.type === "MODIFIED") seen.push(versionOf(event.object));
    }
    throw new Error("The watch of Secrets ended");
  };
  const following = follow().catch((error: unknown) => {
    if (!stopping.signal.aborted) failure = error;
  });
  return {
    async versions() {
      await sleep(settleMs);
      if (failure !== undefined) throw failure;
      return [...seen];
    },
    async stop() {
      stopping.abort();
      await following;
      await api.close();
    },
  };
}

function versionOf(object: {
  readonly metadata: { readonly name: string; readonly annotations?: Readonly<Record<string, string>> };
  readonly [member: string]: unknown;
}): SecretVersion {
  const data = (object["data"] ?? {}) as Readonly<Record<string, string>>;
  const decoded = Object.entries(data).map(([name, text]) => [name, Buffer.from(text, "base64").toString()]);
  return {
    name: object.metadata.name,
    annotations: object.metadata.annotations ?? {},
    entries: Object.fromEntries(decoded),
  };
}
