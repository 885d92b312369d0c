// What dev mode knows about objects beyond their manifests, as a cluster would: their identity, the version that was accepted last,
// the live version, and the objects whose manifests were removed a moment ago.

import type { Manifest } from "../../core/manifests/validate-manifest.ts";
import type { CustomResource, DeletionPolicy, StoredMeta } from "../../operator/model/objects.ts";

export interface KnownObject {
  readonly uid: string;
  /** RFC 3339. */
  readonly creationTimestamp: string;
  /** Grows with every accepted change of the spec. */
  readonly generation: number;
  /** The file it was last seen in, from the folder of manifests. */
  readonly file: string;
  /** The last version that passed the checks of the API server. */
  readonly manifest: Manifest;
  /** The last version that compile accepted; absent = the same as `manifest`; null = none yet. */
  readonly live?: Manifest | null;
  /** What resolve remembers of Secrets. */
  readonly status?: Readonly<Record<string, unknown>>;
}

/** An object whose manifest is gone. It is not served; its Secrets and data are deleted a few seconds later. */
export interface PendingDeletion {
  readonly subject: string;
  readonly object: KnownObject;
  /** Unix milliseconds. */
  readonly removedAt: number;
  /** The effective policy when it was removed. */
  readonly deletionPolicy: DeletionPolicy;
}

export interface DevState {
  /** By `Kind/namespace/name`. */
  readonly objects: ReadonlyMap<string, KnownObject>;
  readonly pendingDeletions: readonly PendingDeletion[];
}

export const emptyState: DevState = Object.freeze({ objects: new Map(), pendingDeletions: [] });

/** The object as the API server would give it back, in the version `manifest`. */
export function storedObject(known: KnownObject, manifest: Manifest): CustomResource {
  const { uid, creationTimestamp, generation, status } = known;
  const metadata: StoredMeta = { ...manifest.metadata, uid, creationTimestamp, generation };
  return { ...manifest, metadata, ...(status !== undefined && { status }) } as CustomResource;
}

/** The version that goes on being served while a newer one is refused. */
export function liveManifest({ live, manifest }: KnownObject): Manifest | undefined {
  return live === undefined ? manifest : (live ?? undefined);
}
