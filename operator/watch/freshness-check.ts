// Makes sure that what a reflector keeps is no older than the moment of asking: a connection may
// have died without a word. A watch that is opened again shows it by a bookmark that is no older
// than a reading of now. Where there are few objects, or no bookmark comes, what is kept is
// compared with a list of names and versions, which a watch that works catches up with, and listed
// again where it stays behind.

import { group } from "../../core/manifests/object.ts";
import { pause } from "../../core/timers.ts";
import { isForbidden, isNotFound, type KubeObject, retryAfterMsOf } from "../kube/api.ts";
import { readPages } from "./list-pages.ts";
import { isSameVersion, keyOf, type ObjectCache, versionOf, type Watched } from "./object-cache.ts";
import type { ReflectorOptions } from "./reflector-options.ts";
import { backoffOf, type WatchTimes } from "./watch-times.ts";

/** What is checked. */
export interface CheckedReflection {
  readonly cache: ObjectCache;
  readonly forbidden: boolean;
  readonly position: string | undefined;
  readonly notFound: unknown;
  isCurrent(): boolean;
  /** Ends what is under way, so that a watch is opened. */
  interrupt(): void;
  /**
   * Until `endConfirming`, a new watch lasts only so long that a bookmark shows how far the cache
   * is.
   */
  beginConfirming(): void;
  endConfirming(): void;
  requireRelist(): void;
  markRefused(): void;
  markTrusted(): void;
  noteActivity(): void;
}

const pollMs = 20;
/**
 * So many lists in a row that find no such kind: more than one server that does not know it yet.
 */
const listsOfNothing = 3;

/** What shows that a cache is not behind; without a bookmark a comparison takes its place. */
type Evidence = "bookmark" | "comparison";

export class FreshnessCheck {
  readonly #reflection: CheckedReflection;
  readonly #options: ReflectorOptions;
  readonly #times: WatchTimes;
  #comparison: Comparison | undefined;

  constructor(reflection: CheckedReflection, options: ReflectorOptions, times: WatchTimes) {
    this.#reflection = reflection;
    this.#options = options;
    this.#times = times;
  }

  /** The reflector keeps the object no more. */
  removed(object: KubeObject): void {
    this.#comparison?.removed(object);
  }

  /** False when the server refuses. Rejects when the signal is aborted. */
  async confirm(signal: AbortSignal): Promise<boolean> {
    const reflection = this.#reflection;
    // A bookmark costs the same for any number of objects, and a comparison of few is quicker.
    const isLarge = reflection.cache.size > this.#times.maxCompared;
    if (isLarge) reflection.beginConfirming();
    reflection.interrupt();
    try {
      return await this.#confirm(isLarge ? "bookmark" : "comparison", signal);
    } finally {
      if (isLarge) reflection.endConfirming();
    }
  }

  async #confirm(by: Evidence, signal: AbortSignal): Promise<boolean> {
    const afterFailure = this.#afterFailures();
    for (;;) {
      signal.throwIfAborted();
      try {
        return await this.#isConfirmed(by, signal);
      } catch (error) {
        signal.throwIfAborted();
        const next = afterFailure(error);
        if (typeof next === "boolean") return next;
        this.#options.observe({ what: "failed", error, pauseMs: next });
        await pause(this.#options.timers, next, signal);
      }
    }
  }

  /** After each failure: how long to wait for the next attempt, or how the check has ended. */
  #afterFailures(): (error: unknown) => number | boolean {
    const backoff = backoffOf(this.#times, this.#options.random);
    let notFound = 0;
    return (error) => {
      if (isForbidden(error)) {
        this.#reflection.markRefused();
        return false;
      }
      notFound = this.#isWithoutDefinition(error) ? notFound + 1 : 0;
      if (notFound === listsOfNothing) {
        this.#reflection.markTrusted();
        return true;
      }
      return notFound > 0 ? this.#times.missingMs : backoff.next(retryAfterMsOf(error));
    };
  }

  async #isConfirmed(by: Evidence, signal: AbortSignal): Promise<boolean> {
    const { observe, timers } = this.#options;
    const reflection = this.#reflection;
    const { position } = reflection;
    const behind = position === undefined ? undefined : await this.#behind(position, by, signal);
    if (behind !== undefined) observe({ what: "compared", behind });
    if (behind === 0) return true;
    // Also when a list was due already: this one begins now.
    reflection.requireRelist();
    while (!reflection.isCurrent()) {
      if (reflection.forbidden) return false;
      if (reflection.notFound !== undefined) throw reflection.notFound;
      await pause(timers, pollMs, signal);
    }
    return true;
  }

  /**
   * Built-in kinds always exist: a 404 for one doesn't come from a working API server.
   */
  #isWithoutDefinition(error: unknown): boolean {
    return isNotFound(error) && this.#options.type.group === group;
  }

  /**
   * True once the watch has come as far as a consistent reading of now. Both versions are of the
   * whole store; Kubernetes lets its clients compare them as numbers. A list of one object costs
   * the same for any number of them.
   */
  async #isShownByBookmark(position: string, signal: AbortSignal): Promise<boolean> {
    const { reader, type, scope, timers, monotonic } = this.#options;
    const reflection = this.#reflection;
    const until = monotonic() + this.#times.bookmarkMs;
    const { resourceVersion } = await reader.list(type, { ...scope, metadataOnly: true, limit: 1 }, { signal });
    const wasSetBack = Number(resourceVersion) < Number(position);
    while (!wasSetBack && reflection.position !== undefined && monotonic() < until) {
      if (Number(reflection.position) >= Number(resourceVersion)) return true;
      await pause(timers, pollMs, signal);
    }
    return false;
  }

  /** How many objects stay behind the server, though the watch had time to deliver them. */
  async #behind(position: string, by: Evidence, signal: AbortSignal): Promise<number> {
    if (by === "bookmark" && (await this.#isShownByBookmark(position, signal))) return 0;
    return await this.#behindList(position, signal);
  }

  async #behindList(position: string, signal: AbortSignal): Promise<number> {
    const { reader, type, scope, timers, monotonic } = this.#options;
    const { metadataPageSize, catchUpMs } = this.#times;
    const { cache } = this.#reflection;
    const comparison = createComparison(cache);
    this.#comparison = comparison;
    try {
      const version = await readPages(reader, {
        type,
        scope: { ...scope, metadataOnly: true },
        limit: metadataPageSize,
        signal,
        onBegin: () => comparison.begin(),
        onPage: (items) => {
          this.#reflection.noteActivity();
          comparison.page(items);
        },
      });
      // etcd was restored to an earlier state: the cache may hold objects that never existed in it.
      if (Number(version) < Number(position)) return Math.max(1, cache.size);
      const until = monotonic() + catchUpMs;
      for (;;) {
        const behind = comparison.behind(version);
        if (behind === 0 || monotonic() >= until) return behind;
        await pause(timers, pollMs, signal);
      }
    } finally {
      this.#comparison = undefined;
    }
  }
}

/**
 * Compares the objects' own versions, because a list's version is that of the whole store and moves
 * with every write to anything. What a watch delivers meanwhile counts.
 */
interface Comparison {
  /** The list begins again: earlier pages don't count. */
  begin(): void;
  page(items: readonly KubeObject[]): void;
  /** The cache dropped the object, so that its presence in the list proves nothing. */
  removed(object: KubeObject): void;
  /** How many objects are kept in another version than the server had when the list was made. */
  behind(listVersion: string): number;
}

function createComparison(kept: Pick<Watched, "get" | "all">): Comparison {
  const listed = new Set<string>();
  let differing: KubeObject[] = [];
  const removedUids = new Set<string>();

  const isBehind = (item: KubeObject): boolean => {
    const present = kept.get(item.metadata.namespace ?? "", item.metadata.name);
    if (present === undefined) return !removedUids.has(item.metadata.uid);
    return !isSameVersion(present, item) && !(versionOf(present) > versionOf(item));
  };
  const isGone = (object: KubeObject, listVersion: string): boolean =>
    !listed.has(keyOf(object)) && !(versionOf(object) > Number(listVersion));

  return {
    begin() {
      listed.clear();
      differing = [];
    },
    page(items) {
      for (const item of items) listed.add(keyOf(item));
      differing.push(...items.filter(isBehind).map(({ metadata }) => ({ metadata })));
    },
    removed: ({ metadata }) => void removedUids.add(metadata.uid),
    behind(listVersion) {
      differing = differing.filter(isBehind);
      let count = differing.length;
      for (const object of kept.all()) if (isGone(object, listVersion)) count += 1;
      return count;
    },
  };
}
