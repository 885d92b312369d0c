// Secrets of the installation itself, in the operator's own namespace. They belong to no custom
// resource, so they lack the label `jsonplane.io/kind`, and no sweep takes them away.

import type { JsonObject } from "../../core/config/types.ts";
import { isConflict, type KubeApi, type KubeObject, type ObjectName } from "../kube/api.ts";
import { secretType } from "../kube/objects.ts";
import { managedBy, managedByLabel } from "../model/secret-names.ts";
import { dataOf, encodedEntries } from "./secret-object.ts";

export interface InstallationSecret {
  readonly type: "Opaque" | "kubernetes.io/tls";
  readonly annotations?: Readonly<Record<string, string>>;
  readonly entries: Readonly<Record<string, string | Uint8Array>>;
}

/** The Secret as it is, whoever made it; made where there is none. */
export async function ensureSecret(
  api: Pick<KubeApi, "get" | "create">,
  secret: ObjectName,
  make: () => InstallationSecret | Promise<InstallationSecret>,
): Promise<KubeObject> {
  const found = await api.get(secretType, secret);
  if (found !== undefined) return found;
  try {
    return await api.create(secretType, newSecret(secret, await make()));
  } catch (error) {
    if (!isConflict(error)) throw error;
    const made = await api.get(secretType, secret);
    if (made === undefined) throw error;
    return made;
  }
}

/** Whether its labels say that jsonplane made it. */
export function isManaged({ metadata }: KubeObject): boolean {
  return metadata.labels?.[managedByLabel] === managedBy;
}

/** Decoded, as texts. */
export function entriesOf(secret: KubeObject): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(dataOf(secret)).map(([entry, text]) => [entry, Buffer.from(text, "base64").toString("utf8")]),
  );
}

/** For POST. */
export function newSecret(
  { namespace, name }: ObjectName,
  { type, annotations, entries }: InstallationSecret,
): JsonObject {
  const metadata = { name, namespace, labels: { [managedByLabel]: managedBy }, ...(annotations && { annotations }) };
  return { apiVersion: "v1", kind: "Secret", metadata, type, data: encodedEntries(entries) };
}
