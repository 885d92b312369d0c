// The service account of the pod as credentials. Read here and not by client-node, which would cost the operator's pods more
// than fifty megabytes of memory for three small files.

import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type CredentialSource, type Credentials, cached, serverUrl } from "./credentials.ts";

/** Where Kubernetes mounts a service account in every pod. */
export const serviceAccountFolder = "/var/run/secrets/kubernetes.io/serviceaccount";

export interface InClusterOptions {
  readonly host: string;
  readonly port: string;
  readonly folder: string;
  readonly monotonic: () => number;
}

export function hasServiceAccount(folder: string): boolean {
  return existsSync(join(folder, "token"));
}

export async function inCluster({ host, port, folder, monotonic }: InClusterOptions): Promise<CredentialSource> {
  const text = async (name: string): Promise<string> => (await readFile(join(folder, name), "utf8")).trim();
  const server = serverUrl(`https://${host.includes(":") ? `[${host}]` : host}:${port}`);
  const load = async (): Promise<Credentials> => ({
    server,
    headers: { authorization: `Bearer ${await text("token")}` },
    tls: { ca: await text("ca.crt") },
  });
  let current = cached(load, monotonic);
  return {
    namespace: await text("namespace"),
    current: () => current(),
    forget() {
      current = cached(load, monotonic);
    },
  };
}
