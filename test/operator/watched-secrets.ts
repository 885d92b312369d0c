// What the operator watches for its Secrets, on a real API server: the five kinds, its own Secrets,
// the metadata of all others. `caughtUp` waits until the caches have what the server has now.

import { type Kind, kinds } from "../../core/manifests/object.ts";
import type { KubeApi, ListScope, ResourceType } from "../../operator/kube/api.ts";
import { customTypes, secretType } from "../../operator/kube/objects.ts";
import type { Watched } from "../../operator/watch/object-cache.ts";
import type { Reflector } from "../../operator/watch/reflector.ts";
import { eventually } from "../support/time/eventually.ts";
import { startReflector, type WatchedKind } from "./started-reflector.ts";

export interface WatchedSecrets {
  readonly own: Watched;
  readonly foreign: Watched;
  readonly objects: Readonly<Record<Kind, Watched>>;
  caughtUp(): Promise<void>;
  stop(): Promise<void>;
}

const own = "app.kubernetes.io/managed-by=jsonplane";
const others = "app.kubernetes.io/managed-by!=jsonplane";

export async function watchSecrets(api: KubeApi): Promise<WatchedSecrets> {
  const watches: (WatchedKind & { readonly reflector: Reflector })[] = [];
  const watch = (type: ResourceType, scope: ListScope): Watched => {
    const reflector = startReflector(api, { type, scope });
    watches.push({ type, scope, reflector });
    return reflector.watched;
  };
  const ownSecrets = watch(secretType, { labelSelector: own });
  const foreign = watch(secretType, { labelSelector: others, metadataOnly: true });
  const objects = Object.fromEntries(kinds.map((kind) => [kind, watch(customTypes[kind], {})])) as Record<
    Kind,
    Watched
  >;

  const caughtUp = async (): Promise<void> => {
    for (const { type, scope, reflector } of watches) {
      const { items } = await api.list(type, { ...scope, limit: 500 });
      const wanted = items.map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`).sort();
      await eventually(() => {
        const kept = [...reflector.watched.all()].map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`);
        if (!reflector.watched.synced() || kept.sort().join() !== wanted.join()) throw new Error("Not caught up yet");
      });
    }
  };
  return {
    own: ownSecrets,
    foreign,
    objects,
    caughtUp,
    async stop() {
      await Promise.all(watches.map(({ reflector }) => reflector.stop()));
    },
  };
}
