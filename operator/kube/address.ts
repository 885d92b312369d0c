// Where an object or a collection lies under the API server's address.

import type { JsonObject } from "../../core/config/types.ts";
import type { ObjectName, ResourceType } from "./api.ts";

export function collectionPath({ group, version, plural }: ResourceType, namespace: string | undefined): string {
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const namespacePath =
    namespace === undefined || namespace === "" ? "" : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${root}${namespacePath}/${plural}`;
}

export function objectPath(type: ResourceType, { namespace, name }: ObjectName, subresource?: string): string {
  const end = subresource === undefined ? "" : `/${subresource}`;
  return `${collectionPath(type, namespace)}/${encodeURIComponent(name)}${end}`;
}

/** `?a=b&c=d` of what is there. */
export function queryText(members: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(members)) if (value !== undefined) query.set(name, String(value));
  return query.size === 0 ? "" : `?${query.toString()}`;
}

/** Where an object that is sent belongs, as its own metadata say it. */
export function nameOf(object: JsonObject): ObjectName {
  const metadata = (object["metadata"] ?? {}) as { readonly name?: string; readonly namespace?: string };
  return { namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
}
