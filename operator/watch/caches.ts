// Everything of the cluster that the operator keeps in memory: the five kinds with the index of
// what belongs to which Project, its own Secrets, the metadata of all other Secrets, and, where it
// may list them, of namespaces; and the ConfigMap of the platform's rules. Says what has changed;
// decides nothing.

import { type Kind, kinds } from "../../core/manifests/object.ts";
import type { Monotonic, Timers } from "../../core/timers.ts";
import type { KubeObject, KubeReader, ListScope, ObjectName, ResourceType } from "../kube/api.ts";
import { configMapType, customTypes, namespaceType, secretType } from "../kube/objects.ts";
import type { CustomResource } from "../model/objects.ts";
import { managedBy, managedByLabel } from "../model/secret-names.ts";
import { keptSecret } from "./kept-secret.ts";
import type { Watched, WatchSink } from "./object-cache.ts";
import {
  createProjectIndex,
  customResource,
  hasRelevantChange,
  type ObserveObject,
  type ProjectIndex,
} from "./project-index.ts";
import { type NamespacesReflector, reflectNamespaces } from "./reflect-namespaces.ts";
import { createReflector, type Reflector } from "./reflector.ts";
import type { ReflectorObservation, ReflectorOptions } from "./reflector-options.ts";

export interface CacheListener {
  /**
   * Something that matters differs from `before`. `listed` = a list brought it, not a live event.
   */
  objectChanged(object: CustomResource, before: CustomResource | undefined, listed: boolean): void;
  objectRemoved(object: CustomResource): void;
  secretChanged(secret: KubeObject): void;
  secretRemoved(secret: KubeObject): void;
}

export interface Caches {
  readonly index: ProjectIndex;
  readonly objects: Readonly<Record<Kind, Watched>>;
  readonly ownSecrets: Watched;
  readonly foreignSecrets: Watched;
  /**
   * Undefined if only some namespaces are watched, and while the API server refuses to list them:
   * then callers read a namespace directly, and nothing waits for the list.
   */
  readonly namespaces: Watched | undefined;
  start(): void;
  stop(): Promise<void>;
  /** True once everything was listed that this process may list. */
  synced(): boolean;
  /**
   * Resolves once nothing that is kept is older than this call, whatever became of the connections
   * meanwhile; of namespaces, once the API server has refused to list them, too. Rejects when the
   * signal is aborted.
   */
  confirm(signal: AbortSignal): Promise<void>;
  /**
   * False of a namespace of which something was never listed, or may be behind, or that is not
   * watched: what is absent there may only be unseen.
   */
  isCurrent(namespace: string): boolean;
  informers(): readonly Informer[];
}

export interface Informer {
  readonly kind: string;
  /** Milliseconds since the server last sent something of it; undefined = never. */
  readonly idleMs: number | undefined;
  /** The server has no such kind. */
  readonly isMissing: boolean;
}

export interface CachesOptions {
  readonly reader: KubeReader;
  /** None = all. */
  readonly namespaces: readonly string[];
  readonly listener: CacheListener;
  readonly timers: Timers;
  readonly monotonic: Monotonic;
  readonly random: () => number;
  readonly observe: (kind: string) => (observation: ReflectorObservation) => void;
  /** Called with every change of an object of the five kinds. */
  readonly observeObject?: ObserveObject;
  /** The ConfigMap of the platform's rules; absent = there are none. */
  readonly guardRails?: { readonly configMap: ObjectName; readonly sink: WatchSink };
}

export function createCaches(options: CachesOptions): Caches {
  const { reader, namespaces, listener, timers, monotonic, random } = options;
  const index = createProjectIndex(options.observeObject);
  const reflectors = new Map<string, NamespacesReflector>();
  const reflect = (name: string, what: Reflected): Watched => {
    const common = { ...what, reader, timers, monotonic, random, observe: options.observe(name) };
    const reflector = reflectNamespaces({ ...common, namespaces });
    reflectors.set(name, reflector);
    return reflector.watched;
  };

  const objects = Object.fromEntries(
    kinds.map((kind) => {
      const sink = objectSink(kind, index, listener);
      return [kind, reflect(kind, { type: customTypes[kind], scope: {}, sink })];
    }),
  ) as Record<Kind, Watched>;
  const own = `${managedByLabel}=${managedBy}`;
  const others = `${managedByLabel}!=${managedBy}`;
  const ofSecrets = { type: secretType, sink: secretSink(listener), keep: keptSecret };
  const ownSecrets = reflect("Secret", { ...ofSecrets, scope: { labelSelector: own } });
  const foreignSecrets = reflect("SecretMetadata", {
    ...ofSecrets,
    scope: { labelSelector: others, metadataOnly: true },
  });
  // Neither is in `reflectors`, so that nothing else waits for it: if the rules can't be read, the
  // previous ones stay in effect.
  const namespaceObjects =
    namespaces.length === 0
      ? reflectOne(options, "Namespace", { type: namespaceType, scope: { metadataOnly: true }, sink: noSink })
      : undefined;
  const guardRails = options.guardRails && reflectGuardRails(options, options.guardRails);
  return {
    index,
    objects,
    ownSecrets,
    foreignSecrets,
    get namespaces() {
      return namespaceObjects?.forbidden() === false ? namespaceObjects.watched : undefined;
    },
    start() {
      for (const each of [...reflectors.values(), namespaceObjects, guardRails]) each?.start();
    },
    async stop() {
      await Promise.all([...reflectors.values(), namespaceObjects, guardRails].map((reflector) => reflector?.stop()));
    },
    async confirm(signal) {
      await Promise.all([...reflectors.values(), namespaceObjects].map((reflector) => reflector?.confirm(signal)));
    },
    synced: () =>
      [...reflectors.values()].every(({ watched }) => watched.synced()) &&
      (namespaceObjects === undefined || namespaceObjects.watched.synced() || namespaceObjects.forbidden()),
    isCurrent: (namespace) => [...reflectors.values()].every((reflector) => reflector.isCurrent(namespace)),
    informers: () =>
      [...reflectors, ...(namespaceObjects ? [["Namespace", namespaceObjects] as const] : [])].map(
        ([kind, reflector]) => {
          const activity = reflector.lastActivity();
          const idleMs = activity === undefined ? undefined : monotonic() - activity;
          return { kind, idleMs, isMissing: reflector.isMissing() };
        },
      ),
  };
}

function reflectOne(
  { reader, timers, monotonic, random, observe }: CachesOptions,
  name: string,
  what: Pick<ReflectorOptions, "type" | "scope" | "sink">,
): Reflector {
  return createReflector({ reader, timers, monotonic, random, observe: observe(name), ...what });
}

function reflectGuardRails(
  options: CachesOptions,
  { configMap, sink }: NonNullable<CachesOptions["guardRails"]>,
): Reflector {
  // RBAC grants list and watch by resourceNames, which the API server allows only with this field
  // selector.
  const scope = { namespace: configMap.namespace, fieldSelector: `metadata.name=${configMap.name}` };
  return reflectOne(options, "ConfigMap", { type: configMapType, scope, sink });
}

interface Reflected {
  readonly type: ResourceType;
  readonly scope: Omit<ListScope, "namespace">;
  readonly sink: WatchSink;
  readonly keep?: ReflectorOptions["keep"];
}

const noSink: WatchSink = { upserted: () => undefined, removed: () => undefined };

function objectSink(kind: Kind, index: ProjectIndex, listener: CacheListener): WatchSink {
  return {
    upserted(now, before, listed) {
      const object = customResource(kind, now);
      const former = before && customResource(kind, before);
      index.put(object);
      if (hasRelevantChange(now, before)) listener.objectChanged(object, former, listed);
    },
    removed(before) {
      const object = customResource(kind, before);
      index.remove(object);
      listener.objectRemoved(object);
    },
  };
}

function secretSink(listener: CacheListener): WatchSink {
  return {
    upserted: (secret) => listener.secretChanged(secret),
    removed: (secret) => listener.secretRemoved(secret),
  };
}
