// Keeps the objects of one kind as the server has them: a complete list, then a watch from there,
// for ever. It never ends by itself: every failure is reported and tried again after a backoff, and
// only what the server has forgotten is listed again.

import type { Backoff } from "../../core/backoff.ts";
import { pause, pauseUnlessAborted } from "../../core/timers.ts";
import { ApiFailure, ApiUnreachable, isForbidden, isNotFound, retryAfterMsOf, type WatchEvent } from "../kube/api.ts";
import { joinSignals } from "../kube/signals.ts";
import { FreshnessCheck } from "./freshness-check.ts";
import { isGone, listPages } from "./list-pages.ts";
import { type CompleteList, ObjectCache, type Watched } from "./object-cache.ts";
import type { ReflectorOptions } from "./reflector-options.ts";
import { WatchSilent, watchOnce } from "./watch-once.ts";
import { backoffOf, defaultWatchTimes, type WatchTimes } from "./watch-times.ts";

export interface Reflector {
  readonly watched: Watched;
  start(): void;
  /** No request leaves afterwards, and the sink gets nothing more from the server. For good. */
  stop(): Promise<void>;
  /** When the server last sent something, on the monotonic clock; undefined before that. */
  lastActivity(): number | undefined;
  /** The server refuses: the right was never given, or has gone. Until it answers. */
  forbidden(): boolean;
  /** The server has no such kind, so that nothing comes. Until it answers. */
  isMissing(): boolean;
  /** What is kept began with a complete list, and is not known to be behind. */
  isCurrent(): boolean;
  /**
   * Makes sure that what is kept is no older than this call: a connection may have died without a
   * word. The watch is opened again and shows by a bookmark how far it has come, or what is kept is
   * compared with a list of names and versions; where it stays behind, it is listed again. Goes on
   * until the server has sent; false when it refuses to, and what is kept is not known then. Of a
   * kind whose definition is gone, what is kept is all there is to know. Rejects when the signal is
   * aborted.
   */
  confirm(signal: AbortSignal): Promise<boolean>;
}

export function createReflector(options: ReflectorOptions): Reflector {
  const reflection = new Reflection(options);
  return {
    watched: reflection.cache,
    start: () => reflection.start(),
    stop: () => reflection.stop(),
    lastActivity: () => reflection.lastActivity,
    forbidden: () => reflection.forbidden,
    isMissing: () => reflection.notFound !== undefined,
    isCurrent: () => reflection.isCurrent(),
    confirm: (signal) => reflection.confirm(signal),
  };
}

class Reflection {
  readonly cache: ObjectCache;
  lastActivity: number | undefined;
  forbidden = false;
  readonly #options: ReflectorOptions;
  readonly #times: WatchTimes;
  readonly #backoff: Backoff;
  readonly #stopping = new AbortController();
  /** The version up to which everything is known; undefined = a list is due. */
  #position: string | undefined;
  #goneAt: number | undefined;
  /** Watches in a row that delivered nothing at all. */
  #silences = 0;
  /** What is kept may be behind the server; until a list was taken over. */
  #isStale = false;
  /** The list that was due could not be had, because there is no such kind. */
  #notFound: unknown;
  #interruption = new AbortController();
  /** How many wait to know how far the cache is. */
  #confirming = 0;
  readonly #freshness: FreshnessCheck;
  #running: Promise<void> | undefined;

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.#times = { ...defaultWatchTimes, ...options.times };
    this.#backoff = backoffOf(this.#times, options.random);
    this.cache = new ObjectCache({
      sink: {
        upserted: (...change) => options.sink.upserted(...change),
        removed: (object, listed) => {
          this.#freshness.removed(object);
          options.sink.removed(object, listed);
        },
      },
      metadataOnly: options.scope.metadataOnly === true,
      keep: options.keep,
      onSinkFailure: (error) => options.observe({ what: "sinkFailed", error }),
    });
    this.#freshness = new FreshnessCheck(this, options, this.#times);
  }

  /** Undefined while a list is due. */
  get position(): string | undefined {
    return this.#position;
  }

  /** Why the list that was due could not be had: there is no such kind. */
  get notFound(): unknown {
    return this.#notFound;
  }

  /** Resolves as `Reflector.confirm` does. */
  async confirm(signal: AbortSignal): Promise<boolean> {
    const both = joinSignals([signal, this.#signal]);
    try {
      return await this.#freshness.confirm(both.signal);
    } finally {
      both.end();
    }
  }

  /** The server refuses to list the kind. */
  markRefused(): void {
    this.forbidden = true;
    this.requireRelist();
  }

  /**
   * Until `endConfirming`, each watch is short, so that the server sends a bookmark soon: somebody
   * waits to know how far the cache is.
   */
  beginConfirming(): void {
    this.#confirming += 1;
  }

  endConfirming(): void {
    this.#confirming -= 1;
  }

  /** There is no such kind any more: what is kept is all there is to know. */
  markTrusted(): void {
    this.#isStale = false;
  }

  get #signal(): AbortSignal {
    return this.#stopping.signal;
  }

  start(): void {
    this.#signal.throwIfAborted();
    this.#running ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new Error("the reflector was stopped"));
    await this.#running;
  }

  isCurrent(): boolean {
    return this.cache.synced() && !this.#isStale;
  }

  /** What is kept may be behind the server: everything is listed again, from now on. */
  requireRelist(): void {
    this.#isStale = true;
    this.#position = undefined;
    this.#notFound = undefined;
    this.interrupt();
  }

  /** Ends the list, the watch or the pause that is under way, so that what is due now begins. */
  interrupt(): void {
    this.#interruption.abort(new Error("something else is due"));
  }

  async #run(): Promise<void> {
    while (!this.#signal.aborted) {
      this.#interruption = new AbortController();
      const either = joinSignals([this.#signal, this.#interruption.signal]);
      try {
        if (this.#position === undefined) await this.#list(either.signal);
        else await this.#watch(this.#position, either.signal);
      } catch (error) {
        if (!either.signal.aborted) await this.#recover(error, either.signal);
      } finally {
        either.end();
      }
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const complete = await this.#listPages(signal);
    signal.throwIfAborted();
    const first = !this.cache.synced();
    const differences = this.cache.takeList(complete);
    this.#position = complete.resourceVersion;
    this.#isStale = false;
    this.#options.observe({ what: "listed", objects: this.cache.size, differences, first });
  }

  async #listPages(signal: AbortSignal): Promise<CompleteList> {
    const { reader, type, scope, keep } = this.#options;
    let writeSequence = 0;
    const whole = await listPages(reader, {
      type,
      scope,
      limit: scope.metadataOnly ? this.#times.metadataPageSize : this.#times.pageSize,
      keep,
      signal,
      onBegin: () => {
        writeSequence = this.cache.writeSequence();
      },
      onPage: () => this.noteActivity(),
    });
    return { ...whole, writeSequence };
  }

  /** Until the watch ends; resolves when the next may begin. */
  async #watch(resourceVersion: string, signal: AbortSignal): Promise<void> {
    const { reader, type, scope, timers, monotonic, random, observe } = this.#options;
    const { idleMs, healthyMs, watchSeconds, confirmingSeconds } = this.#times;
    const [from, to] = watchSeconds;
    const timeoutSeconds = this.#confirming > 0 ? confirmingSeconds : Math.floor(from + random() * (to - from));
    const since = monotonic();
    let hasBegun = false;
    try {
      await watchOnce({
        reader,
        type,
        request: { ...scope, resourceVersion, timeoutSeconds },
        signal,
        idleMs,
        timers,
        monotonic,
        onBytes: () => {
          // Not before: a request that is refused is no watch.
          if (!hasBegun) observe({ what: "watching" });
          hasBegun = true;
          this.noteActivity();
        },
        onEvent: (event) => this.#take(event),
      });
    } finally {
      if (monotonic() - since >= healthyMs) this.#backoff.reset();
    }
    // A server that ends each watch immediately must not be asked without pause.
    if (monotonic() - since < healthyMs) await this.#pause(this.#backoff.next(), signal);
  }

  #take(event: WatchEvent): void {
    const version = event.type === "BOOKMARK" ? event.resourceVersion : event.object.metadata.resourceVersion;
    if (Number(version) < Number(this.#position)) {
      this.#position = undefined;
      throw new ApiUnreachable("watch: versions run backwards, as after a restored backup");
    }
    this.#position = version;
    this.cache.takeEvent(event);
    this.#silences = 0;
    this.#backoff.reset();
  }

  async #recover(error: unknown, signal: AbortSignal): Promise<void> {
    const { observe } = this.#options;
    if (error instanceof WatchSilent) {
      observe({ what: "silent" });
      this.#silences += 1;
      // Not even bookmarks: after a restored backup the server waits for a version that is far in
      // the future.
      if (this.#silences > 1) this.#position = undefined;
    } else if (isGone(error) && this.#mayRelistNow()) observe({ what: "gone" });
    else {
      if (isForbidden(error)) this.forbidden = true;
      if (isNotFound(error)) {
        this.forbidden = false;
        this.#notFound = error;
      }
      if (isUnusable(error)) this.#position = undefined;
      const pauseMs = this.#backoff.next(retryAfterMsOf(error));
      observe({ what: "failed", error, pauseMs });
      // Only stopping, or something else that is due, ends it early.
      await pauseUnlessAborted(this.#options.timers, pauseMs, signal);
    }
  }

  /** The first 410 is the usual course of things; one soon after it is a fault of the server. */
  #mayRelistNow(): boolean {
    const now = this.#options.monotonic();
    const isAllowed = this.#position !== undefined && !(now - (this.#goneAt ?? -Infinity) < this.#times.backoffCapMs);
    if (this.#position !== undefined) this.#goneAt = now;
    if (isAllowed) this.#position = undefined;
    return isAllowed;
  }

  #pause(milliseconds: number, signal: AbortSignal): Promise<void> {
    return pause(this.#options.timers, milliseconds, signal);
  }

  noteActivity(): void {
    this.forbidden = false;
    this.#notFound = undefined;
    this.lastActivity = this.#options.monotonic();
  }
}

/**
 * The server can't make anything of the version that was asked about, and won't later; 504: it lies
 * in the future.
 */
function isUnusable(error: unknown): boolean {
  return error instanceof ApiFailure && [400, 404, 410, 422, 504].includes(error.status);
}
