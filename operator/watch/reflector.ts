// Keeps the objects of one kind as the server has them: a complete list, then a watch from there, for ever. It never ends by
// itself: whatever goes wrong is told, waited for and tried again, and only what the server has forgotten is listed anew.

import { type Monotonic, pause, type Timers } from "../../core/timers.ts";
import {
  ApiFailure,
  ApiUnreachable,
  isForbidden,
  type KubeReader,
  type ListScope,
  type ResourceType,
  type WatchEvent,
} from "../kube/api.ts";
import { isGone, listPages } from "./list-pages.ts";
import { type CompleteList, ObjectCache } from "./object-cache.ts";
import { WatchSilent, watchOnce } from "./watch-once.ts";
import { type Backoff, createBackoff, usualWatchTimes, type WatchTimes } from "./watch-times.ts";
import type { Watched, WatchSink } from "./watched.ts";

export type ReflectorObservation =
  /** `differences` to what was kept; after the first list, each is something that no watch had told. */
  | { readonly what: "listed"; readonly objects: number; readonly differences: number; readonly first: boolean }
  | { readonly what: "watching" }
  /** The server has forgotten where the watch was: 410. */
  | { readonly what: "gone" }
  /** Not a byte for too long; the watch is replaced. */
  | { readonly what: "silent" }
  | { readonly what: "failed"; readonly error: unknown; readonly pauseMs: number }
  /** A list lacks most of what is known: nothing is taken out before a second one says the same. */
  | { readonly what: "massAbsence"; readonly absent: number; readonly known: number }
  | { readonly what: "sinkFailed"; readonly error: unknown };

export interface ReflectorOptions {
  readonly reader: KubeReader;
  readonly type: ResourceType;
  readonly scope: ListScope;
  readonly sink: WatchSink;
  readonly timers: Timers;
  readonly monotonic: Monotonic;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly observe: (observation: ReflectorObservation) => void;
  readonly times?: Partial<WatchTimes>;
}

export interface Reflector {
  readonly watched: Watched;
  start(): void;
  /** No request leaves afterwards, and the sink is told nothing more of the server. For good. */
  stop(): Promise<void>;
  /** When the server was last heard, on the monotonic clock; undefined before that. */
  lastActivity(): number | undefined;
  /** The server refuses to tell: the right was never given, or has gone. Until it tells something. */
  forbidden(): boolean;
}

const fewObjects = 10;

export function createReflector(options: ReflectorOptions): Reflector {
  const reflection = new Reflection(options);
  return {
    watched: reflection.cache,
    start: () => reflection.start(),
    stop: () => reflection.stop(),
    lastActivity: () => reflection.lastActivity,
    forbidden: () => reflection.forbidden,
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
  /** Watches in a row that told nothing at all. */
  #silences = 0;
  #running: Promise<void> | undefined;

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.#times = { ...usualWatchTimes, ...options.times };
    this.#backoff = createBackoff(this.#times, options.random);
    this.cache = new ObjectCache({
      sink: options.sink,
      metadataOnly: options.scope.metadataOnly === true,
      onSinkFailure: (error) => options.observe({ what: "sinkFailed", error }),
    });
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

  async #run(): Promise<void> {
    while (!this.#signal.aborted) {
      try {
        if (this.#position === undefined) await this.#relist();
        else await this.#watch(this.#position);
      } catch (error) {
        if (this.#signal.aborted) return;
        await this.#recover(error);
      }
    }
  }

  async #relist(): Promise<void> {
    const complete = await this.#confirmedList();
    this.#signal.throwIfAborted();
    const first = !this.cache.synced();
    const differences = this.cache.takeList(complete);
    this.#position = complete.resourceVersion;
    this.#options.observe({ what: "listed", objects: this.cache.size, differences, first });
  }

  /** A list whose absences are few, or were seen by the list before it, too. */
  async #confirmedList(): Promise<CompleteList> {
    let doubted: ReadonlySet<string> = new Set();
    for (;;) {
      const complete = await this.#list();
      const absent = this.cache.absentFrom(complete);
      const known = this.cache.size;
      const many = absent.length > fewObjects && absent.length * 2 > known;
      if (!many || absent.every((key) => doubted.has(key))) return complete;
      this.#options.observe({ what: "massAbsence", absent: absent.length, known });
      doubted = new Set(absent);
      await this.#pause(this.#times.confirmMs);
    }
  }

  async #list(): Promise<CompleteList> {
    const { reader, type, scope } = this.#options;
    let mark = 0;
    const whole = await listPages(reader, {
      type,
      scope,
      limit: this.#times.pageSize,
      signal: this.#signal,
      onBegin: () => {
        mark = this.cache.mark();
      },
      onPage: () => this.#heard(),
    });
    return { ...whole, mark };
  }

  /** Until the watch ends; resolves when the next may begin. */
  async #watch(resourceVersion: string): Promise<void> {
    const { reader, type, scope, timers, monotonic, random, observe } = this.#options;
    const { idleMs, healthyMs, watchSeconds } = this.#times;
    const [from, to] = watchSeconds;
    const since = monotonic();
    observe({ what: "watching" });
    try {
      await watchOnce({
        reader,
        type,
        request: { ...scope, resourceVersion, timeoutSeconds: Math.floor(from + random() * (to - from)) },
        signal: this.#signal,
        idleMs,
        timers,
        monotonic,
        onBytes: () => this.#heard(),
        onEvent: (event) => this.#take(event),
      });
    } finally {
      if (monotonic() - since >= healthyMs) this.#backoff.reset();
    }
    // A server that ends each watch at once must not be asked without pause.
    if (monotonic() - since < healthyMs) await this.#pause(this.#backoff.next());
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

  async #recover(error: unknown): Promise<void> {
    const { observe } = this.#options;
    if (error instanceof WatchSilent) {
      observe({ what: "silent" });
      this.#silences += 1;
      // Not even bookmarks: after a restored backup the server waits for a version that is far in the future.
      if (this.#silences > 1) this.#position = undefined;
    } else if (isGone(error) && this.#mayRelistAtOnce()) observe({ what: "gone" });
    else {
      if (isForbidden(error)) this.forbidden = true;
      if (isUnusable(error)) this.#position = undefined;
      const pauseMs = this.#backoff.next(retryAfterMs(error));
      observe({ what: "failed", error, pauseMs });
      await this.#pause(pauseMs).catch(() => undefined); // Only stopping ends it early.
    }
  }

  /** The first 410 is the usual course of things; one soon after it is a fault of the server. */
  #mayRelistAtOnce(): boolean {
    const now = this.#options.monotonic();
    const atOnce = this.#position !== undefined && !(now - (this.#goneAt ?? -Infinity) < this.#times.backoffCapMs);
    if (this.#position !== undefined) this.#goneAt = now;
    if (atOnce) this.#position = undefined;
    return atOnce;
  }

  #pause(milliseconds: number): Promise<void> {
    return pause(this.#options.timers, milliseconds, this.#signal);
  }

  #heard(): void {
    this.forbidden = false;
    this.lastActivity = this.#options.monotonic();
  }
}

/** The server can't make anything of the version that was asked about, and won't later; 504: it lies in the future. */
function isUnusable(error: unknown): boolean {
  return error instanceof ApiFailure && [400, 404, 410, 422, 504].includes(error.status);
}

function retryAfterMs(error: unknown): number | undefined {
  const seconds = error instanceof ApiFailure ? error.retryAfterSeconds : undefined;
  return seconds === undefined ? undefined : seconds * 1_000;
}
