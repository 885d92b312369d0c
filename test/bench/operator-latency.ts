// How soon a change is live: a schema's field is made a required one, and both replicas are asked until they refuse an object
// without it.

import type { JsonObject, ProjectRef } from "../../core/config/types.ts";
import type { KubeApi } from "../../operator/kube/api.ts";
import { customTypes } from "../../operator/kube/resource-types.ts";
import type { Fleet } from "../support/fleet/fleet.ts";

export interface Change {
  readonly liveMs: number;
}

export interface ChangesOptions {
  readonly api: KubeApi;
  readonly fleet: Fleet;
  readonly changes: number;
  readonly projectOf: (index: number) => ProjectRef;
  /** Of the fields that it adds to schemas; another one for each measurement of the same projects. */
  readonly prefix?: string;
}

/** Far apart, so that no project is in a replica's memory because of the one before. */
const stride = 47;

export async function measureChanges({
  api,
  fleet,
  changes,
  projectOf,
  prefix = "f",
}: ChangesOptions): Promise<readonly Change[]> {
  const measured: Change[] = [];
  for (let index = 0; index < changes; index += 1) {
    const { namespace, name } = projectOf(index * stride);
    const key = await fleet.secret(namespace, `${name}-a-api-key`, "apiKey");
    const resource = await api.get(customTypes.ApiResource, { namespace, name: `${name}-books` });
    if (resource === undefined) throw new Error(`${namespace}/${name}-books is gone`);
    const spec = resource["spec"] as { readonly schema: JsonObject };
    const field = `${prefix}${index}`;
    const required = [...((spec.schema["required"] as readonly string[] | undefined) ?? []), field];
    const properties = { ...(spec.schema["properties"] as JsonObject), [field]: { type: "integer" } };
    const changed = { ...resource, spec: { ...spec, schema: { ...spec.schema, required, properties } } };
    const started = performance.now();
    await api.replace(customTypes.ApiResource, changed as unknown as JsonObject);
    await Promise.all(fleet.replicas.map((replica) => untilRefused(replica, `/${namespace}/${name}/api/books`, key)));
    measured.push({ liveMs: performance.now() - started });
  }
  return measured;
}

async function untilRefused(replica: Fleet["replicas"][number], path: string, key: string): Promise<void> {
  for (;;) {
    const reply = await replica.send(path, { method: "POST", body: { title: "x" }, as: `apikey ${key}` });
    if (reply.status === 400) return;
    if (reply.status !== 201) throw new Error(`${path} answered ${reply.status}: ${reply.text}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
