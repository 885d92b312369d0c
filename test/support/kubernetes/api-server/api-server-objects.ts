// Where a Kubernetes API server keeps objects by their kind, and what tests do with them there:
// server-side apply of manifests, lists, reads. Throws with the server's answer when it refuses.

import { parseAllDocuments } from "yaml";
import { kinds } from "../../../../core/manifests/object.ts";
import { eventually } from "../../time/eventually.ts";
import { type ApiObject, type ApiTarget, apiCall, apiObject, unlessRefused } from "./api-server-call.ts";

/** What every manifest has. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly [member: string]: unknown };
  readonly [member: string]: unknown;
}

export const jsonplaneVersion = "jsonplane.io/v1alpha1";

/** Kinds of no namespace. */
const clusterWide = ["Namespace", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition"];
/** Kinds of the core group, `v1`, which tests name without it. */
const core = ["Namespace", "Secret", "ServiceAccount", "ResourceQuota", "ConfigMap"];

/** The folder of a kind that tests name alone: of this project, or of the core group. */
export function folderOf(kind: string, namespace: string): string {
  return collectionPath({ apiVersion: core.includes(kind) ? "v1" : jsonplaneVersion, kind }, namespace);
}

/**
 * `/apis/jsonplane.io/v1alpha1/namespaces/<namespace>/projects`, for kinds whose plural ends in s.
 */
export function collectionPath(type: Pick<Manifest, "apiVersion" | "kind">, namespace: string): string {
  const root = type.apiVersion.includes("/") ? `/apis/${type.apiVersion}` : `/api/${type.apiVersion}`;
  const plural = `${type.kind.toLowerCase()}s`;
  return clusterWide.includes(type.kind) ? `${root}/${plural}` : `${root}/namespaces/${namespace}/${plural}`;
}

/**
 * The documents one after the other, as `kubectl apply --server-side` does it: unknown fields and
 * conflicts are refused.
 */
export async function applyManifests(target: ApiTarget, yaml: string, namespace = "default"): Promise<void> {
  for (const document of parseAllDocuments(yaml)) {
    const manifest = document.toJS() as Manifest | null;
    if (manifest === null) continue;
    const { name, namespace: own = namespace } = manifest.metadata;
    const path = `${collectionPath(manifest, own)}/${name}?fieldManager=kubectl&fieldValidation=Strict`;
    await apiObject(target, path, { method: "PATCH", body: manifest, contentType: "application/apply-patch+yaml" });
  }
}

/**
 * What tests do with the objects of one namespace, of this project's kinds and the core group's.
 */
export interface NamespaceObjects {
  /** One after the other, in their order. */
  create(...objects: readonly Manifest[]): Promise<void>;
  get(kind: string, name: string): Promise<KubeObject>;
  /** Merges into the object, RFC 7396. */
  patch(kind: string, name: string, patch: object): Promise<void>;
  remove(kind: string, name: string): Promise<void>;
  /** Their names, in the order of the alphabet. */
  names(kind: string): Promise<readonly string[]>;
}

export function objectsOf(target: ApiTarget, namespace: string): NamespaceObjects {
  const path = (kind: string, name: string) => `${folderOf(kind, namespace)}/${name}`;
  return {
    async create(...objects) {
      for (const body of objects) await apiObject(target, folderOf(body.kind, namespace), { method: "POST", body });
    },
    get: async (kind, name) => (await apiObject(target, path(kind, name))) as unknown as KubeObject,
    async patch(kind, name, body) {
      await apiObject(target, path(kind, name), { method: "PATCH", body, contentType: "application/merge-patch+json" });
    },
    async remove(kind, name) {
      await apiObject(target, path(kind, name), { method: "DELETE" });
    },
    async names(kind) {
      const items = (await objectsIn(target, folderOf(kind, namespace))) as unknown as readonly KubeObject[];
      return items.map(({ metadata }) => metadata.name).sort();
    },
  };
}

/** An object as the API server gives it. */
export interface KubeObject {
  readonly metadata: {
    readonly name: string;
    /** Absent of objects without one. */
    readonly namespace?: string;
    readonly uid: string;
    readonly generation: number;
    readonly resourceVersion: string;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly type?: string;
  readonly data?: Readonly<Record<string, string>>;
  readonly status?: {
    readonly conditions?: readonly Condition[];
    readonly [member: string]: unknown;
  };
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
}

/** Makes a namespace, unless it is there. */
export async function ensureNamespace(target: ApiTarget, name: string): Promise<void> {
  await create(target, "/api/v1/namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name } });
}

/**
 * Deletes a namespace and waits until it is gone with everything in it; needs the namespace
 * controller.
 */
export async function endNamespace(target: ApiTarget, name: string): Promise<void> {
  const path = `/api/v1/namespaces/${name}`;
  await apiObject(target, path, { method: "DELETE" });
  await eventually(
    async () => {
      const { status } = await apiCall(target, path);
      if (status !== 404) throw new Error(`The namespace ${name} is still there (${status})`);
    },
    { withinMs: 90_000 },
  );
}

/** A token of a service account, which is made, with its namespace, where it isn't there. */
export async function serviceAccountToken(target: ApiTarget, namespace: string, name: string): Promise<string> {
  await ensureNamespace(target, namespace);
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  await create(target, accounts, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name } });
  const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { expirationSeconds: 86_400 } };
  const made = await apiObject(target, `${accounts}/${name}/token`, { method: "POST", body });
  return (made["status"] as { readonly token: string }).token;
}

async function create(target: ApiTarget, path: string, body: object): Promise<void> {
  await unlessRefused(409, apiObject(target, path, { method: "POST", body }));
}

/** The condition Ready, whatever it says. */
export function readyOf({ status }: KubeObject): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === "Ready");
}

/** It is Ready, and the condition speaks of the newest generation, as kubectl wait has it. */
export function isReady(object: KubeObject): boolean {
  const ready = readyOf(object);
  return ready?.status === "True" && ready.observedGeneration >= object.metadata.generation;
}

/** The decoded entry of a Secret; empty where it has none. */
export function entryOf({ data }: Pick<KubeObject, "data">, entry: string): string {
  return Buffer.from(data?.[entry] ?? "", "base64").toString();
}

/** Every object of a folder. */
export async function objectsIn(target: ApiTarget, folder: string): Promise<readonly ApiObject[]> {
  return (await apiObject(target, folder))["items"] as readonly ApiObject[];
}

/** Every custom resource of this project in a namespace, with its kind. */
export async function customResources(target: ApiTarget, namespace: string): Promise<readonly ApiObject[]> {
  const lists = await Promise.all(
    kinds.map(async (kind) => {
      const items = await objectsIn(target, folderOf(kind, namespace));
      return items.map((item) => ({ ...item, kind }));
    }),
  );
  return lists.flat();
}

/** Every name that discovery knows of this project, as kubectl asks for it: `v1beta1/projects`. */
export async function discoveredResources(target: ApiTarget): Promise<readonly string[]> {
  const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const { items } = (await apiObject(target, "/apis", { accept })) as unknown as { readonly items: readonly Group[] };
  const versions = items.filter(({ metadata }) => metadata.name === "jsonplane.io").flatMap((group) => group.versions);
  return versions.flatMap(({ version, resources = [] }) => resources.map(({ resource }) => `${version}/${resource}`));
}

interface Group {
  readonly metadata: { readonly name: string };
  readonly versions: readonly {
    readonly version: string;
    readonly resources?: readonly { readonly resource: string }[];
  }[];
}
