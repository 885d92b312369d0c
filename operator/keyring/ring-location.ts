// Where a key ring is, in a text that no copy of it shares: another cluster, another namespace or another Secret. It stays the same when the
// Secret is deleted and comes back from a backup.

import type { KubeApi, ObjectName } from "../kube/api.ts";
import { namespaceType } from "../kube/resource-types.ts";

/** Rejects where the namespace can't be read, and where there is none. */
export async function ringLocationOf(api: Pick<KubeApi, "get">, { namespace, name }: ObjectName): Promise<string> {
  const found = await api.get(namespaceType, { namespace: "", name: namespace });
  if (found === undefined) throw new Error(`There is no namespace "${namespace}" any more`);
  return `${namespace}/${name}/${found.metadata.uid}`;
}

/** As the version before this one named it: an epoch that it wrote is of this very installation. */
export function formerRingLocationOf(namespace: string, secretUid: string): string {
  return `${namespace}/${secretUid}`;
}
