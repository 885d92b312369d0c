// A backup of one namespace as tools for it make one: custom resources and Secrets as they were
// declared, without what the API server and the operator filled in. Put back, every object has a
// new UID.

import { apiCall } from "../support/kubernetes/api-server/api-server-call.ts";
import type { Declared, Tenant } from "../support/kubernetes/declared.ts";

export interface Backup {
  /** A Project, then its children. */
  readonly objects: readonly Declared[];
  readonly secrets: readonly Declared[];
}

const group = "jsonplane.io/v1alpha1";
const plurals = ["projects", "apiresources", "projectusers", "apikeys", "rootkeys"];

export async function backupOf({ fleet, namespace }: Tenant): Promise<Backup> {
  const list = async (apiVersion: string, plural: string): Promise<readonly Declared[]> => {
    const root = apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`;
    const { body } = await apiCall(fleet.api, `${root}/namespaces/${namespace}/${plural}`);
    const { items, kind } = body as unknown as { readonly items: readonly Declared[]; readonly kind: string };
    return items.map((item) => declaredAgain(item, { apiVersion, kind: kind.replace(/List$/, "") }));
  };
  const [secrets, ...objects] = await Promise.all([list("v1", "secrets"), ...plurals.map((each) => list(group, each))]);
  return { objects: objects.flat(), secrets };
}

/** Lists don't say of each item what it is. */
function declaredAgain(
  { metadata, status: _, ...rest }: Declared,
  type: Pick<Declared, "apiVersion" | "kind">,
): Declared {
  const { name, labels, annotations } = metadata;
  return { ...rest, ...type, metadata: { name, labels, annotations } };
}
