// What a reflector keeps of one kind of object, and which sinks it notifies: the read side that the rest of the operator uses.

import type { KubeObject } from "../kube/api.ts";

/** The objects of one kind, as the server had them a moment ago. */
export interface Watched {
  get(namespace: string, name: string): KubeObject | undefined;
  all(): Iterable<KubeObject>;
  /** True once the first complete list has been taken over. */
  synced(): boolean;
  /**
   * Takes over what an own write was answered with, so that the next look sees it although the watch has not delivered it yet.
   * An older version than the one that is kept is dropped.
   */
  note(object: KubeObject): void;
  /** Takes an object out after an own DELETE was answered. */
  noteRemoved(object: KubeObject): void;
}

/** Called in order, never during a call of its own; what it throws is counted and dropped. It only computes keys and enqueues. */
export interface WatchSink {
  /** `before` is the version kept until now. `listed` = it came with a list, not by a live event. */
  upserted(object: KubeObject, before: KubeObject | undefined, listed: boolean): void;
  removed(before: KubeObject, listed: boolean): void;
}
