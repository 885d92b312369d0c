// The read side of a reflector: the objects of one kind that it keeps, and the sink that it
// notifies.

import type { KubeObject } from "../kube/api.ts";

/** The objects of one kind, as the server had them a moment ago. */
export interface Watched {
  get(namespace: string, name: string): KubeObject | undefined;
  all(): Iterable<KubeObject>;
  /** True once the first complete list has been taken over. */
  synced(): boolean;
  /**
   * Applies the object that an own write returned, so that the next read sees it before the watch
   * delivers it. A version older than the kept one is dropped.
   */
  applyOwnWrite(object: KubeObject): void;
  /** Removes an object after an own DELETE succeeded. */
  applyOwnDelete(object: KubeObject): void;
}

/**
 * Called in order, never during a call of its own; what it throws is counted and dropped. It only
 * computes keys and enqueues.
 */
export interface WatchSink {
  /**
   * `before` is the version kept until now. `listed` = it came with a list, not by a live event.
   */
  upserted(object: KubeObject, before: KubeObject | undefined, listed: boolean): void;
  removed(before: KubeObject, listed: boolean): void;
}
