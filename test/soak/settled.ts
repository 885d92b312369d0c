// What must hold once nothing changes any more and everything runs: what the API server has is
// served, and nothing else is left anywhere.

import { Redis } from "ioredis";
import { configKeys, credentialsKey, keyOfProject, projectConfigKey } from "../../core/config/config-keys.ts";
import { keyField } from "../../core/config/fields.ts";
import { kinds } from "../../core/manifests/object.ts";
import { hashTagOf } from "../../dataplane/store/redis/keys.ts";
import { finalizer } from "../../operator/deletion/finalizers.ts";
import type { ResourceType } from "../../operator/kube/api.ts";
import { customTypes, secretType } from "../../operator/kube/objects.ts";
import { collectionPath } from "../../operator/kube/rest-api.ts";
import { kindLabel, managedBy, managedByLabel, nameLabel, ownerAnnotation } from "../../operator/model/secret-names.ts";
import { sha256Hex } from "../../operator/resolve/mint.ts";
import type { SeenObject } from "../fuzz/seen-object.ts";
import {
  entryOf,
  isReady,
  type KubeObject,
  objectsIn,
  readyOf,
} from "../support/kubernetes/api-server/api-server-objects.ts";
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

export async function readCluster({ fleet: { api } }: SoakWorld): Promise<Cluster> {
  const everywhere = (type: ResourceType): string => collectionPath(type, undefined);
  const lists = kinds.map(async (kind) => {
    const items = await objectsIn(api, everywhere(customTypes[kind]));
    return items.map((item) => ({ ...item, kind }) as unknown as Declared);
  });
  const objects = (await Promise.all(lists)).flat();
  const selector = encodeURIComponent(`${managedByLabel}=${managedBy}`);
  const secrets = (await objectsIn(
    api,
    `${everywhere(secretType)}?labelSelector=${selector}`,
  )) as unknown as readonly KubeObject[];
  const versions = [...objects, ...secrets].map((each) => `${placeOf(each)} ${each.metadata.resourceVersion}`);
  return { objects, secrets, versions: new Set(versions) };
}

/** Objects that are not Ready yet, or that are being deleted. */
export function notReconciled({ objects }: Cluster): readonly string[] {
  return objects.flatMap((object) => {
    const { generation, deletionTimestamp } = object.metadata;
    if (isReady(object) && deletionTimestamp === undefined) return [];
    const facts = `generation ${generation}, ${deletionTimestamp ?? "not deleted"}`;
    return [`${nameOf(object)}, ${facts}: ${JSON.stringify(readyOf(object))}`];
  });
}

/** `<kind> <namespace>/<name>` */
export function nameOf(object: Declared): string {
  return `${object.kind} ${placeOf(object)}`;
}

export function projectOf({ kind, metadata, spec }: Declared): string {
  const name = kind === "Project" ? metadata.name : (spec.projectRef?.name ?? "");
  return keyOfProject({ namespace: metadata.namespace, name });
}

/** Everything that is wrong, a line each. */
export async function faults(world: SoakWorld, cluster: Cluster, counts: SoakCounts): Promise<readonly string[]> {
  return [
    ...secretFaults(cluster),
    ...finalizerFaults(cluster),
    ...(await redisFaults(world, cluster)),
    ...(await accessFaults(world, cluster, counts)),
  ];
}

/**
 * Each Secret is of the very object that is there under its owner's name. One whose owner was
 * deleted while no operator heard of that stays for an hour, because a backup restores Secrets
 * before their objects; it is no fault, and `leftSecrets` counts it.
 */
function secretFaults({ objects, secrets }: Cluster): readonly string[] {
  const owners = new Map(objects.map((object) => [nameOf(object), object]));
  return secrets.flatMap(({ metadata }) => {
    const { labels = {}, annotations = {}, namespace, name } = metadata;
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
  const deleted = new Set(before.objects.map(({ metadata }) => metadata.uid));
  const left = leftSecrets(after).intersection(deleted);
  return [
    ...(left.size > 0 ? [`Secrets are left of ${left.size} objects that were deleted in peace`] : []),
    ...(await redisFaults(world, after)),
  ];
}

async function redisFaults({ fleet }: SoakWorld, cluster: Cluster): Promise<readonly string[]> {
  const redis = new Redis(fleet.redis.url, { protocol: 2 });
  try {
    return [...(await configFaults(redis, cluster)), ...(await dataFaults(redis, cluster))];
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
    return [`${nameOf(object)} ${isThere ? "has a" : "lacks its"} finalizer`];
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
    const wanted = own.flatMap(({ kind, metadata }) => (kind === "ApiKey" ? [fieldOf(apiKeys.get(metadata.uid))] : []));
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

function fieldOf(apiKey: string | undefined): string {
  return apiKey === undefined ? "a key that is in no Secret" : keyField(sha256Hex(apiKey));
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
    const apiKey = entryOf(secret, "apiKey");
    return object === undefined || apiKey === "" ? [] : [{ object, apiKey }];
  });
}

function placeOf({ metadata }: KubeObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/**
 * Data are of Projects that are there, or are recorded as kept; no order to delete data is open.
 */
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
  const orders = await redis.hvals(configKeys.orders);
  if (orders.length > 0) found.push(`${orders.length} orders to delete data are open: ${orders.slice(0, 3)}`);
  return found;
}

/** Every replica takes the keys of now, and none that was deleted or replaced. */
async function accessFaults({ fleet }: SoakWorld, cluster: Cluster, counts: SoakCounts): Promise<readonly string[]> {
  const found: string[] = [];
  const requests = [...presentKeys(cluster), ...deletedKeys(cluster, counts)];
  for (const replica of fleet.replicas) {
    for (const { project, apiKey, expected } of requests) {
      const { status } = await replica.send(`/${project}/api/items?_limit=1`, { as: `apikey ${apiKey}` });
      if (!expected.includes(status)) found.push(`A key of ${project} is answered with ${status}, not ${expected}`);
    }
  }
  return found;
}

interface KeyRequest {
  /** `<namespace>/<name>` */
  readonly project: string;
  readonly apiKey: string;
  /** Statuses of a list of its resource. */
  readonly expected: readonly number[];
}

function presentKeys(cluster: Cluster): readonly KeyRequest[] {
  const resources = cluster.objects.filter(({ kind }) => kind === "ApiResource");
  // A Project whose declaration was cut off has no resource.
  const served = new Set(resources.map(projectOf));
  return apiKeysOf(cluster).map(({ object, apiKey }) => {
    const project = projectOf(object);
    return { project, apiKey, expected: [served.has(project) ? 200 : 404] };
  });
}

function deletedKeys(cluster: Cluster, { revoked }: SoakCounts): readonly KeyRequest[] {
  const uids = new Set(cluster.objects.map(({ metadata }) => metadata.uid));
  const present = new Set(apiKeysOf(cluster).map(({ apiKey }) => apiKey));
  const gone = revoked.filter(({ apiKey, uid }) => !uids.has(uid) && !present.has(apiKey));
  return gone.map(({ apiKey, namespace, project }) => ({
    project: keyOfProject({ namespace, name: project }),
    apiKey,
    expected: [401, 404],
  }));
}
