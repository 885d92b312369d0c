// Everything of the cluster that the operator keeps in memory: the five kinds with the index of what belongs to which Project,
// its own Secrets, the metadata of all other Secrets, and, where it may see them, of namespaces. Says what has changed; decides
// nothing.

import { type Kind, kinds } from "../../core/manifests/object.ts";
import type { Monotonic, Timers } from "../../core/timers.ts";
import type { KubeObject, KubeReader, ListScope, ResourceType } from "../kube/api.ts";
import { customTypes, namespaceType, secretType } from "../kube/resource-types.ts";
import type { CustomResource } from "../objects.ts";
import { managedBy, managedByLabel } from "../secret-names.ts";
import { concerns, createProjectIndex, customResource, type ProjectIndex } from "./project-index.ts";
import { type NamespacesReflector, reflectNamespaces } from "./reflect-namespaces.ts";
import type { ReflectorObservation } from "./reflector.ts";
import type { Watched, WatchSink } from "./watched.ts";

export interface CacheListener {
  /** Something that matters differs from `before`. `listed` = a list told of it, not a live event. */
  objectChanged(object: CustomResource, before: CustomResource | undefined, listed: boolean): void;
  objectRemoved(object: CustomResource): void;
  secretChanged(secret: KubeObject): void;
}

export interface Caches {
  readonly index: ProjectIndex;
  readonly objects: Readonly<Record<Kind, Watched>>;
  readonly ownSecrets: Watched;
  readonly foreignSecrets: Watched;
  /** Absent where only some namespaces are watched: then they are asked for one by one. */
  readonly namespaces?: Watched;
  start(): void;
  stop(): Promise<void>;
  /** True once everything was listed that this process may list. */
  synced(): boolean;
  /**
   * Resolves once nothing that is kept is older than this call, whatever became of the connections meanwhile; what decides about
   * credentials first. Rejects when the signal is aborted.
   */
  confirm(signal: AbortSignal): Promise<void>;
  /**
   * False of a namespace of which something was never listed, or may be behind, or that is not watched: what is absent there
   * may only be unseen.
   */
  knows(namespace: string): boolean;
  /** All objects of the five kinds. */
  all(): Iterable<CustomResource>;
  /** For each kind, milliseconds since the server was last heard of it; undefined = never. */
  informers(): readonly { readonly kind: string; readonly idleMs: number | undefined }[];
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
}

export function createCaches(options: CachesOptions): Caches {
  const { reader, namespaces, listener, timers, monotonic, random } = options;
  const index = createProjectIndex();
  const reflectors = new Map<string, NamespacesReflector>();
  const reflect = (name: string, what: Reflected): Watched => {
    const { type, scope, sink } = what;
    const common = { reader, type, scope, sink, timers, monotonic, random, observe: options.observe(name) };
    const reflector = reflectNamespaces({ ...common, namespaces: what.everywhere === true ? [] : namespaces });
    reflectors.set(name, reflector);
    return reflector.watched;
  };

  const objects = Object.fromEntries(
    kinds.map((kind) => [
      kind,
      reflect(kind, { type: customTypes[kind], scope: {}, sink: objectSink(kind, index, listener) }),
    ]),
  ) as Record<Kind, Watched>;
  const secrets = secretSink(listener);
  const own = `${managedByLabel}=${managedBy}`;
  const others = `${managedByLabel}!=${managedBy}`;
  const ownSecrets = reflect("Secret", { type: secretType, scope: { labelSelector: own }, sink: secrets });
  const foreignSecrets = reflect("SecretMetadata", {
    type: secretType,
    scope: { labelSelector: others, metadataOnly: true },
    sink: secrets,
  });
  const seesNamespaces = namespaces.length === 0;
  return {
    index,
    objects,
    ownSecrets,
    foreignSecrets,
    ...(seesNamespaces && {
      namespaces: reflect("Namespace", { type: namespaceType, scope: { metadataOnly: true }, sink: noSink }),
    }),
    start() {
      for (const reflector of reflectors.values()) reflector.start();
    },
    async stop() {
      await Promise.all([...reflectors.values()].map((reflector) => reflector.stop()));
    },
    *all() {
      for (const kind of kinds) for (const object of objects[kind].all()) yield customResource(kind, object);
    },
    async confirm(signal) {
      const [first, rest] = [[...credentialKinds], [...reflectors.keys()].filter((kind) => !credentialKinds.has(kind))];
      for (const part of [first, rest]) {
        await Promise.all(part.map((kind) => reflectors.get(kind)?.confirm(signal)));
      }
    },
    synced: () => [...reflectors.values()].every(({ watched }) => watched.synced()),
    knows: (namespace) => [...reflectors.values()].every((reflector) => reflector.knows(namespace)),
    informers: () =>
      [...reflectors].map(([kind, reflector]) => {
        const heard = reflector.lastActivity();
        return { kind, idleMs: heard === undefined ? undefined : monotonic() - heard };
      }),
  };
}

interface Reflected {
  readonly type: ResourceType;
  readonly scope: Omit<ListScope, "namespace">;
  readonly sink: WatchSink;
  readonly everywhere?: boolean;
}

/** Of what decides whether a key or a password is accepted. */
const credentialKinds: ReadonlySet<string> = new Set(["ApiKey", "ProjectUser", "Secret", "SecretMetadata"]);

const noSink: WatchSink = { upserted: () => undefined, removed: () => undefined };

function objectSink(kind: Kind, index: ProjectIndex, listener: CacheListener): WatchSink {
  return {
    upserted(now, before, listed) {
      const object = customResource(kind, now);
      const former = before && customResource(kind, before);
      index.put(object);
      if (concerns(now, before)) listener.objectChanged(object, former, listed);
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
    removed: (secret) => listener.secretChanged(secret),
  };
}
