// Everything of the cluster that the operator keeps in memory: the five kinds with the index of what belongs to which Project,
// its own Secrets, the metadata of all other Secrets, and, where it may list them, of namespaces; and the ConfigMap of the platform's rules.
// Says what has changed; decides nothing.

import { isKind, type Kind, kinds } from "../../core/manifests/object.ts";
import type { Monotonic, Timers } from "../../core/timers.ts";
import type { KubeObject, KubeReader, ListScope, ObjectName, ResourceType } from "../kube/api.ts";
import { configMapType, customTypes, namespaceType, secretType } from "../kube/resource-types.ts";
import type { CustomResource } from "../model/objects.ts";
import { managedBy, managedByLabel } from "../model/secret-names.ts";
import { DeferredDeletions } from "./deferred-deletions.ts";
import { keptSecret } from "./kept-secret.ts";
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
import type { Watched, WatchSink } from "./watched.ts";

export interface CacheListener {
  /** Something that matters differs from `before`. `listed` = a list brought it, not a live event. */
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
   * Undefined if only some namespaces are watched, and while the API server refuses to list them: then callers read a namespace directly,
   * and nothing waits for the list.
   */
  readonly namespaces: Watched | undefined;
  start(): void;
  stop(): Promise<void>;
  /** True once everything was listed that this process may list, and the definition of each kind stood. */
  synced(): boolean;
  /**
   * Resolves once nothing that is kept is older than this call, whatever became of the connections meanwhile; of namespaces, once the API
   * server has refused to list them, too. Rejects when the signal is aborted.
   */
  confirm(signal: AbortSignal): Promise<void>;
  /**
   * False of a namespace of which something was never listed, or may be behind, or that is not watched: what is absent there
   * may only be unseen.
   */
  isCurrent(namespace: string): boolean;
  /** All objects of the five kinds, those whose deletion waits too. */
  all(): Iterable<CustomResource>;
  /** True for a deleted object that counts as existing: its deletion waits for the definition of its kind. */
  isDeletionPending(kind: Kind, namespace: string, name: string): boolean;
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
  /** Absent where CustomResourceDefinitions can't be asked for: then every deletion counts immediately. */
  readonly onDeletionsWait?: (kind: Kind, why: string) => void;
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

  const deferred = deferredByKind(options, (kind) => objectSink(kind, index, listener));
  const objects = Object.fromEntries(
    kinds.map((kind) => {
      const sink = deferred.get(kind) ?? objectSink(kind, index, listener);
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
  // Neither is in `reflectors`, so that nothing else waits for it: if the rules can't be read, the previous ones stay in effect.
  const namespaceObjects =
    namespaces.length === 0
      ? reflectOne(options, "Namespace", { type: namespaceType, scope: { metadataOnly: true }, sink: noSink })
      : undefined;
  const guardRails = options.guardRails && reflectGuardRails(options, options.guardRails);
  /** Without its definition a kind can't be listed: the kept objects are all that is known. */
  const confirmKind = async (name: string, signal: AbortSignal): Promise<void> => {
    const deletions = isKind(name) ? deferred.get(name) : undefined;
    if ((await deletions?.ask(signal)) === "missing") return;
    await reflectors.get(name)?.confirm(signal);
    // What is known to be deleted now must not be published by callers that wait for this.
    await deletions?.ask(signal);
  };
  return {
    index,
    objects,
    ownSecrets,
    foreignSecrets,
    get namespaces() {
      return namespaceObjects?.forbidden() === false ? namespaceObjects.watched : undefined;
    },
    start() {
      for (const each of [...deferred.values(), ...reflectors.values(), namespaceObjects, guardRails]) each?.start();
    },
    async stop() {
      for (const deletions of deferred.values()) deletions.stop();
      await Promise.all([...reflectors.values(), namespaceObjects, guardRails].map((reflector) => reflector?.stop()));
    },
    all: () => index.all(),
    isDeletionPending: (kind, namespace, name) => deferred.get(kind)?.isWaiting(namespace, name) ?? false,
    async confirm(signal) {
      const kindsConfirmed = [...reflectors.keys()].map((kind) => confirmKind(kind, signal));
      await Promise.all([...kindsConfirmed, namespaceObjects?.confirm(signal)]);
    },
    synced: () =>
      [...reflectors.values()].every(({ watched }) => watched.synced()) &&
      [...deferred.values()].every((deletions) => deletions.hasStood()) &&
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
  // RBAC grants list and watch by resourceNames, which the API server allows only with this field selector.
  const scope = { namespace: configMap.namespace, fieldSelector: `metadata.name=${configMap.name}` };
  return reflectOne(options, "ConfigMap", { type: configMapType, scope, sink });
}

function deferredByKind(
  { reader, timers, onDeletionsWait }: CachesOptions,
  sinkOf: (kind: Kind) => WatchSink,
): ReadonlyMap<Kind, DeferredDeletions> {
  if (onDeletionsWait === undefined) return new Map();
  const deletionsOf = (kind: Kind): DeferredDeletions =>
    new DeferredDeletions({ kind, reader, sink: sinkOf(kind), timers, onWait: (why) => onDeletionsWait(kind, why) });
  return new Map(kinds.map((kind) => [kind, deletionsOf(kind)]));
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
