// What must hold once nothing changes any more and everything runs: what the API server has is served, and nothing else is left anywhere.

import { createHash } from "node:crypto";
import { Redis } from "ioredis";
import { configKeys, credentialsKey, keyOfProject, projectConfigKey } from "../../core/config/config-keys.ts";
import { readDataOrder } from "../../core/config/data-order.ts";
import { hashTagOf } from "../../dataplane/store/redis/keys.ts";
import { finalizer } from "../../operator/model/finalizer.ts";
import { kindLabel, managedBy, managedByLabel, nameLabel, ownerAnnotation } from "../../operator/model/secret-names.ts";
import { readyOf, type SeenObject } from "../fuzz/seen-object.ts";
import { apiObject } from "../support/kubernetes/api-server/api-server-call.ts";
import type { KubeObject } from "../support/kubernetes/api-server/api-server-objects.ts";
import type { SoakCounts } from "./tenants.ts";
import type { SoakWorld } from "./world.ts";

export interface Cluster {
  readonly objects: readonly Declared[];
  readonly secrets: readonly KubeObject[];
  /** Of every object and Secret: changes with every write. */
  readonly versions: ReadonlySet<string>;
}

/** A custom resource with what the checks read of it. */
export type Declared = SeenObject & {
  readonly metadata: { readonly namespace: string };
  readonly spec: Readonly<Record<string, unknown>> & { readonly projectRef?: { readonly name: string } };
};

const plurals = {
  Project: "projects",
  ApiResource: "apiresources",
  RootKey: "rootkeys",
  ApiKey: "apikeys",
  ProjectUser: "projectusers",
} as const;

export async function readCluster({ fleet: { api } }: SoakWorld): Promise<Cluster> {
  const objects: Declared[] = [];
  for (const [kind, plural] of Object.entries(plurals)) {
    const { items } = (await apiObject(api, `/apis/jsonplane.io/v1alpha1/${plural}`)) as unknown as {
      items: Declared[];
    };
    objects.push(...items.map((item) => ({ ...item, kind }) as Declared));
  }
  const selector = `labelSelector=${encodeURIComponent(`${managedByLabel}=${managedBy}`)}`;
  const { items } = (await apiObject(api, `/api/v1/secrets?${selector}`)) as unknown as { items: KubeObject[] };
  const versions = [...objects, ...items].map((each) => `${placeOf(each)} ${each.metadata.resourceVersion}`);
  return { objects, secrets: items, versions: new Set(versions) };
}

/** Objects that are not Ready yet, or that are being deleted. */
export function unsettled({ objects }: Cluster): readonly string[] {
  return objects.flatMap((object) => {
    const { kind, metadata } = object;
    const ready = readyOf(object);
    const isReady = ready?.status === "True" && ready.observedGeneration >= metadata.generation;
    if (isReady && metadata.deletionTimestamp === undefined) return [];
    const { generation, deletionTimestamp = "not deleted" } = metadata;
    const place = `${kind} ${metadata.namespace}/${metadata.name}`;
    return [`${place}, generation ${generation}, ${deletionTimestamp}: ${JSON.stringify(ready)}`];
  });
}

export function projectOf({ kind, metadata, spec }: Declared): string {
  const name = kind === "Project" ? metadata.name : (spec.projectRef?.name ?? "");
  return keyOfProject({ namespace: metadata.namespace, name });
}

/** Everything that is wrong, a line each. */
export async function faults(world: SoakWorld, cluster: Cluster, counts: SoakCounts): Promise<readonly string[]> {
  const redis = new Redis(world.fleet.redis.url, { protocol: 2 });
  try {
    return [
      ...secretFaults(cluster),
      ...finalizerFaults(cluster),
      ...(await configFaults(redis, cluster)),
      ...(await dataFaults(redis, cluster)),
      ...(await accessFaults(world, cluster, counts)),
    ];
  } finally {
    redis.disconnect();
  }
}

/**
 * Each Secret is of the very object that is there under its owner's name. One whose owner was deleted while no operator heard of that stays for an
 * hour, because a backup restores Secrets before their objects; it is no fault, and `leftSecrets` counts it.
 */
function secretFaults({ objects, secrets }: Cluster): readonly string[] {
  const owners = new Map(
    objects.map((object) => [`${object.kind} ${object.metadata.namespace}/${object.metadata.name}`, object]),
  );
  return secrets.flatMap(({ metadata }) => {
    const { labels = {}, annotations = {}, name } = metadata;
    const { namespace } = metadata as unknown as { readonly namespace: string };
    if (labels[kindLabel] === undefined) return [];
    const owner = owners.get(`${labels[kindLabel]} ${namespace}/${labels[nameLabel]}`);
    if (owner === undefined || owner.metadata.uid === annotations[ownerAnnotation]) return [];
    return [`Secret ${namespace}/${name} is of a former ${labels[kindLabel]} ${labels[nameLabel]}`];
  });
}

/** UIDs of objects that are gone, of which Secrets are left; each once. */
export function leftSecrets({ objects, secrets }: Cluster): ReadonlySet<string> {
  const present = new Set(objects.map(({ metadata }) => metadata.uid));
  const owners = secrets.flatMap(({ metadata }) => metadata.annotations?.[ownerAnnotation] ?? []);
  return new Set(owners).difference(present);
}

/** What is wrong once all of `before` was deleted with an operator that heard of it. */
export async function deletionFaults(world: SoakWorld, before: Cluster, after: Cluster): Promise<readonly string[]> {
  const redis = new Redis(world.fleet.redis.url, { protocol: 2 });
  try {
    const deleted = new Set(before.objects.map(({ metadata }) => metadata.uid));
    const left = [...leftSecrets(after)].filter((uid) => deleted.has(uid));
    return [
      ...(left.length > 0 ? [`Secrets are left of ${left.length} objects that were deleted in peace`] : []),
      ...(await configFaults(redis, after)),
      ...(await dataFaults(redis, after)),
    ];
  } finally {
    redis.disconnect();
  }
}

/** The finalizer is on each object whose data go with it, and on no other one. */
function finalizerFaults({ objects }: Cluster): readonly string[] {
  const policies = new Map(
    objects.flatMap((object) =>
      object.kind === "Project" ? [[projectOf(object), object.spec["deletionPolicy"]]] : [],
    ),
  );
  return objects.flatMap((object) => {
    const hasData = ["Project", "ApiResource", "RootKey"].includes(object.kind);
    const isWanted = hasData && (object.spec["deletionPolicy"] ?? policies.get(projectOf(object))) === "Delete";
    const isThere = (object.metadata.finalizers ?? []).some((name) => name.startsWith(finalizer));
    if (isWanted === isThere) return [];
    return [
      `${object.kind} ${object.metadata.namespace}/${object.metadata.name} ${isThere ? "has a" : "lacks its"} finalizer`,
    ];
  });
}

/** Redis has the configuration of just these Projects, with just these children. */
async function configFaults(redis: Redis, cluster: Cluster): Promise<readonly string[]> {
  const found: string[] = [];
  const byProject = Map.groupBy(cluster.objects, projectOf);
  const published = new Set(await redis.hkeys(configKeys.projects));
  for (const key of published.symmetricDifference(new Set(byProject.keys())))
    found.push(`Project ${key} is ${published.has(key) ? "published and gone" : "not published"}`);
  const apiKeys = new Map(apiKeysOf(cluster).map(({ object, apiKey }) => [object.metadata.uid, apiKey]));
  for (const [key, own] of byProject) {
    const [namespace = "", name = ""] = key.split("/");
    const fields = (await redis.hkeys(projectConfigKey({ namespace, name }))).filter((field) => field.includes(":"));
    found.push(...differing(`Project ${key}`, fields, own.flatMap(configField)));
    const credentials = await redis.hkeys(credentialsKey({ namespace, name }));
    const keys = credentials.filter((field) => field.startsWith("key:"));
    const wanted = own.flatMap(({ kind, metadata }) =>
      kind === "ApiKey" ? [keyField(apiKeys.get(metadata.uid))] : [],
    );
    found.push(...differing(`Project ${key}`, keys, wanted));
    const users = own.filter(({ kind }) => kind === "ProjectUser").length;
    if (credentials.length - keys.length !== users)
      found.push(`Project ${key} is published with other users than its ${users}`);
  }
  return found;
}

function configField({ kind, spec }: Declared): readonly string[] {
  if (kind === "ApiResource") return [`resource:${spec["resourceName"]}`];
  return kind === "RootKey" ? [`rootkey:${spec["key"]}`] : [];
}

function keyField(apiKey: string | undefined): string {
  return apiKey === undefined
    ? "a key that is in no Secret"
    : `key:${createHash("sha256").update(apiKey).digest("hex")}`;
}

function differing(subject: string, present: readonly string[], wanted: readonly string[]): readonly string[] {
  const difference = [...new Set(present).symmetricDifference(new Set(wanted))];
  return difference.length === 0 ? [] : [`${subject} is published with, or without: ${difference}`];
}

interface ShownKey {
  readonly object: Declared;
  readonly apiKey: string;
}

/** What the Secrets of ApiKeys hold. */
function apiKeysOf({ objects, secrets }: Cluster): readonly ShownKey[] {
  const keys = new Map(
    objects.flatMap((object) => (object.kind === "ApiKey" ? [[placeOf(object), object] as const] : [])),
  );
  return secrets.flatMap((secret) => {
    const object = keys.get(placeOf(secret).replace(/-api-key$/, ""));
    const apiKey = Buffer.from(secret.data?.["apiKey"] ?? "", "base64").toString();
    return object === undefined || apiKey === "" ? [] : [{ object, apiKey }];
  });
}

function placeOf({ metadata }: KubeObject): string {
  return `${(metadata as unknown as { readonly namespace: string }).namespace}/${metadata.name}`;
}

/** Data are of Projects that are there, or are recorded as kept; no order to delete data is open. */
async function dataFaults(redis: Redis, { objects }: Cluster): Promise<readonly string[]> {
  const found: string[] = [];
  const present = new Set(objects.map(projectOf));
  const recorded = new Set(await redis.hkeys(configKeys.data));
  const projects = new Set<string>();
  for await (const keys of redis.scanStream({ match: "jp:*", count: 1_000 }) as AsyncIterable<readonly string[]>) {
    for (const key of keys) {
      const [namespace = "", name] = hashTagOf(key).split("/");
      if (name !== undefined && namespace !== "budget" && namespace !== "bucket") projects.add(`${namespace}/${name}`);
    }
  }
  for (const key of projects)
    if (!present.has(key) && !recorded.has(key)) found.push(`Data are left of ${key}, and nobody knows`);
  // Orders to measure data stay as long as the data are kept.
  const orders = (await redis.hvals(configKeys.purges)).filter((text) => readDataOrder(text)?.what !== "size");
  if (orders.length > 0) found.push(`${orders.length} orders to delete data are open: ${orders.slice(0, 3)}`);
  return found;
}

/** Every replica takes the keys of now, and none that was deleted or replaced. */
async function accessFaults({ fleet }: SoakWorld, cluster: Cluster, counts: SoakCounts): Promise<readonly string[]> {
  const found: string[] = [];
  const uids = new Set(cluster.objects.map(({ metadata }) => metadata.uid));
  const valid = apiKeysOf(cluster).map(({ object, apiKey }) => ({ apiKey, key: projectOf(object) }));
  const isValid = new Set(valid.map(({ apiKey }) => apiKey));
  const gone = counts.revoked.filter(({ apiKey, uid }) => !uids.has(uid) && !isValid.has(apiKey));
  for (const replica of fleet.replicas) {
    const statusOf = async (key: string, apiKey: string): Promise<number> =>
      (await replica.send(`/${key}/api/items?_limit=1`, { as: `apikey ${apiKey}` })).status;
    for (const { apiKey, key } of valid) {
      const status = await statusOf(key, apiKey);
      if (status !== 200) found.push(`A key of ${key} is answered with ${status}`);
    }
    for (const { apiKey, namespace, project } of gone) {
      const status = await statusOf(`${namespace}/${project}`, apiKey);
      if (status !== 401 && status !== 404)
        found.push(`A deleted key of ${namespace}/${project} is answered with ${status}`);
    }
  }
  return found;
}
