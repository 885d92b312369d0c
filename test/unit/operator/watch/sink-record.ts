// A sink that keeps what it got, as an index of the operator would, and notices what can't be.

import type { KubeObject } from "../../../../operator/kube/api.ts";
import type { WatchSink } from "../../../../operator/watch/object-cache.ts";

export interface SinkRecord extends WatchSink {
  /** What an index fed by this sink holds: key → object. */
  readonly view: ReadonlyMap<string, KubeObject>;
  /** `+ns/name`, `~ns/name`, `-ns/name`, with `*` behind what came with a list. */
  readonly reported: readonly string[];
  /**
   * Contradictions: an object that was gone and came back, a change of something else than is
   * known, …
   */
  readonly faults: readonly string[];
}

/** `mayReturn`: behind a label selector an object may be gone and come back. */
export function sinkRecord({ mayReturn = false } = {}): SinkRecord {
  const view = new Map<string, KubeObject>();
  const reported: string[] = [];
  const faults: string[] = [];
  const ended = new Set<string>();
  return {
    view,
    reported,
    faults,
    upserted(object, before, listed) {
      const { namespace, name, uid } = object.metadata;
      const key = `${namespace}/${name}`;
      reported.push(`${before === undefined ? "+" : "~"}${key}${listed ? "*" : ""}`);
      if (view.get(key) !== before) faults.push(`${key}: told of a change of something else than was told`);
      if (before !== undefined && before.metadata.uid !== uid) faults.push(`${key}: a change from one UID to another`);
      if (ended.has(uid) && !mayReturn) faults.push(`${key}: came back after it was gone`);
      view.set(key, object);
    },
    removed(before, listed) {
      const { namespace, name, uid } = before.metadata;
      const key = `${namespace}/${name}`;
      reported.push(`-${key}${listed ? "*" : ""}`);
      if (view.get(key) !== before) faults.push(`${key}: removed what was not there`);
      view.delete(key);
      ended.add(uid);
    },
  };
}
