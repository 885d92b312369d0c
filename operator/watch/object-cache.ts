// The objects of one kind as lists, events and own writes bring them, in whatever order they
// arrive: nothing older replaces what is newer, and nothing that is gone comes back. Versions are
// compared as numbers, which Kubernetes promises of resourceVersion since 1.35 and which etcd's
// revisions, where they come from, have always been; versions that are no numbers (an aggregated
// API) are taken in order of arrival.

import { isDeepStrictEqual } from "node:util";
import type { KubeObject, WatchEvent } from "../kube/api.ts";

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

export interface ObjectCacheOptions {
  readonly sink: WatchSink;
  readonly metadataOnly: boolean;
  /** What is kept of an object; absent = all. */
  readonly keep?: ((object: KubeObject) => KubeObject) | undefined;
  readonly onSinkFailure: (error: unknown) => void;
}

export interface CompleteList {
  readonly items: readonly KubeObject[];
  readonly resourceVersion: string;
  /** What `writeSequence()` returned before the first page was requested. */
  readonly writeSequence: number;
}

/**
 * Own deletions whose DELETED event has not come are remembered; more than these at once would be a
 * fault elsewhere.
 */
const maxRemembered = 10_000;

export class ObjectCache implements Watched {
  readonly #sink: WatchSink;
  readonly #metadataOnly: boolean;
  readonly #keep: (object: KubeObject) => KubeObject;
  readonly #notify: (call: () => void) => void;
  #kept = new Map<string, KubeObject>();
  #complete = false;
  /** Everything up to this version is in `#kept`. */
  #resourceVersion = Number.NaN;
  #writeSequence = 0;
  /** Own writes that neither an event nor a list has confirmed: key → sequence number. */
  readonly #ownWrites = new Map<string, number>();
  /** Own deletions that neither an event nor a list has confirmed: uid → sequence number. */
  readonly #ownDeletes = new Map<string, number>();

  constructor({ sink, metadataOnly, keep, onSinkFailure }: ObjectCacheOptions) {
    this.#sink = sink;
    this.#keep = keep ?? ((object) => object);
    this.#metadataOnly = metadataOnly;
    this.#notify = oneAtATime(onSinkFailure);
  }

  get(namespace: string, name: string): KubeObject | undefined {
    return this.#kept.get(`${namespace}/${name}`);
  }

  all(): Iterable<KubeObject> {
    return this.#kept.values();
  }

  synced(): boolean {
    return this.#complete;
  }

  get size(): number {
    return this.#kept.size;
  }

  applyOwnWrite(object: KubeObject): void {
    const key = keyOf(object);
    const present = this.#kept.get(key);
    // What the watch has passed already it has delivered, a deletion since then too.
    if (versionOf(object) <= this.#resourceVersion || this.#ownDeletes.has(object.metadata.uid)) return;
    if (present !== undefined && versionOf(present) >= versionOf(object)) return;
    this.#writeSequence += 1;
    this.#ownWrites.set(key, this.#writeSequence);
    this.#upsert(object);
  }

  applyOwnDelete(object: KubeObject): void {
    const { uid } = object.metadata;
    const present = this.#kept.get(keyOf(object));
    const isKept = present !== undefined && present.metadata.uid === uid;
    // The watch has delivered its beginning and its end.
    if (!isKept && versionOf(object) <= this.#resourceVersion) return;
    this.#writeSequence += 1;
    this.#ownDeletes.set(uid, this.#writeSequence);
    forgetOldest(this.#ownDeletes);
    if (isKept) this.#drop(present);
  }

  /** Own writes with a higher number may be newer than a list that is requested now. */
  writeSequence(): number {
    return this.#writeSequence;
  }

  /** Replaces everything by the list, then notifies the sink of the differences; their number. */
  takeList(list: CompleteList): number {
    const before = this.#kept;
    this.#kept = this.#merged(list);
    this.#complete = true;
    this.#resourceVersion = Number(list.resourceVersion);
    forgetUpTo(this.#ownWrites, list.writeSequence);
    forgetUpTo(this.#ownDeletes, list.writeSequence);
    return this.#reportDifferences(before);
  }

  takeEvent(event: WatchEvent): void {
    if (event.type === "BOOKMARK") {
      this.#resourceVersion = Number(event.resourceVersion);
      return;
    }
    const { type, object } = event;
    this.#resourceVersion = versionOf(object);
    const present = this.#kept.get(keyOf(object));
    const isOlder = present !== undefined && versionOf(present) > this.#resourceVersion;
    if (!isOlder) this.#ownWrites.delete(keyOf(object));
    if (type === "DELETED") this.#takeDeleted(object, present, isOlder);
    else if (!this.#isBeforeOwnRemoval(object) && !isOlder && !isSameVersion(present, object)) this.#upsert(object);
  }

  #takeDeleted(object: KubeObject, present: KubeObject | undefined, isOlder: boolean): void {
    this.#ownDeletes.delete(object.metadata.uid);
    if (present !== undefined && (sameUid(present, object) || !isOlder)) this.#drop(present);
  }

  #isBeforeOwnRemoval({ metadata }: KubeObject): boolean {
    if (!this.#ownDeletes.has(metadata.uid)) return false;
    if (metadata.deletionTimestamp === undefined) return true;
    this.#ownDeletes.delete(metadata.uid); // Its finalizers keep it after all.
    return false;
  }

  #merged({ items, resourceVersion, writeSequence }: CompleteList): Map<string, KubeObject> {
    const next = new Map<string, KubeObject>();
    for (const item of items) {
      const { uid, deletionTimestamp } = item.metadata;
      if ((this.#ownDeletes.get(uid) ?? 0) > writeSequence && deletionTimestamp === undefined) continue;
      const present = this.#kept.get(keyOf(item));
      next.set(
        keyOf(item),
        present !== undefined && isSameVersion(present, item) ? present : this.#shaped(item, present),
      );
    }
    // Only a write during the listing can be newer than the list. One from before is in it, or
    // history was set back.
    for (const [key, when] of this.#ownWrites) {
      const present = this.#kept.get(key);
      if (when > writeSequence && present !== undefined && versionOf(present) > Number(resourceVersion))
        next.set(key, present);
    }
    return next;
  }

  #reportDifferences(before: ReadonlyMap<string, KubeObject>): number {
    let count = 0;
    for (const [key, object] of before) {
      if (this.#kept.has(key)) continue;
      count += 1;
      this.#notify(() => this.#sink.removed(object, true));
    }
    for (const [key, object] of this.#kept) {
      const former = before.get(key);
      if (former === object) continue;
      count += 1;
      this.#notifyChanged(object, former, true);
    }
    return count;
  }

  /** The same name with another UID is another object: one has gone, one has come. */
  #notifyChanged(object: KubeObject, before: KubeObject | undefined, listed: boolean): void {
    const successor = before !== undefined && sameUid(before, object) ? before : undefined;
    if (before !== undefined && successor === undefined) this.#notify(() => this.#sink.removed(before, listed));
    this.#notify(() => this.#sink.upserted(object, successor, listed));
  }

  #upsert(object: KubeObject): void {
    const before = this.#kept.get(keyOf(object));
    const kept = this.#shaped(object, before);
    this.#kept.set(keyOf(object), kept);
    this.#notifyChanged(kept, before, false);
  }

  #drop(before: KubeObject): void {
    this.#kept.delete(keyOf(before));
    this.#ownWrites.delete(keyOf(before));
    this.#notify(() => this.#sink.removed(before, false));
  }

  /**
   * With the very same spec where nothing of it has changed: it is kept once, and what was compiled
   * of it is remembered by it.
   */
  #shaped(whole: KubeObject, before: KubeObject | undefined): KubeObject {
    const object = this.#keep(whole);
    if (this.#metadataOnly) return { metadata: object.metadata };
    return before !== undefined && hasSameSpec(before, object) ? { ...object, spec: before["spec"] } : object;
  }
}

/**
 * Runs calls one after the other, also those that come up during one; what one throws is handed on
 * and stops nothing.
 */
function oneAtATime(onFailure: (error: unknown) => void): (call: () => void) => void {
  const waiting: (() => void)[] = [];
  let busy = false;
  return (call) => {
    waiting.push(call);
    if (busy) return;
    busy = true;
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      try {
        next();
      } catch (error) {
        onFailure(error);
      }
    }
    busy = false;
  };
}

/** Joined as in keyOfProject, to take less memory. */
export function keyOf({ metadata }: KubeObject): string {
  return [metadata.namespace ?? "", metadata.name].join("/");
}

export function versionOf({ metadata }: KubeObject): number {
  return Number(metadata.resourceVersion);
}

function sameUid(a: KubeObject, b: KubeObject): boolean {
  return a.metadata.uid === b.metadata.uid;
}

/**
 * An equal generation is not enough: after a restored backup, the number may stand for another
 * spec.
 */
function hasSameSpec(before: KubeObject, object: KubeObject): boolean {
  const { generation } = object.metadata;
  const isSameGeneration = generation !== undefined && before.metadata.generation === generation;
  return isSameGeneration && sameUid(before, object) && isDeepStrictEqual(before["spec"], object["spec"]);
}

export function isSameVersion(present: KubeObject | undefined, object: KubeObject): boolean {
  return present?.metadata.resourceVersion === object.metadata.resourceVersion && sameUid(present, object);
}

function forgetUpTo(moments: Map<string, number>, mark: number): void {
  for (const [key, when] of moments) if (when <= mark) moments.delete(key);
}

function forgetOldest(moments: Map<string, number>): void {
  for (const key of moments.keys()) {
    if (moments.size <= maxRemembered) return;
    moments.delete(key);
  }
}
