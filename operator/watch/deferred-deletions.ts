// Stands between the watch of one kind and its sink. A deletion waits here until the API server, asked after it arrived, says
// that the CustomResourceDefinition of the kind stands: a definition that is deleted takes all its objects along.

import { describeError } from "../../core/log/describe-error.ts";
import type { Kind } from "../../core/manifests/object.ts";
import { pause, type Timers } from "../../core/timers.ts";
import { isForbidden, type KubeObject, type KubeReader } from "../kube/api.ts";
import { customTypes, definitionType } from "../kube/resource-types.ts";
import { isDeleting } from "../model/project-objects.ts";
import { keyOf } from "./object-cache.ts";
import type { WatchSink } from "./watched.ts";

export interface DeferredDeletionsOptions {
  readonly kind: Kind;
  readonly reader: Pick<KubeReader, "get">;
  readonly sink: WatchSink;
  readonly timers: Timers;
  /** Called with each answer, or failure, because of which deletions wait. */
  readonly onWait: (why: string) => void;
}

/** `unreadable`: the right to read the definition was taken away. */
export type DefinitionState = "stands" | "deleting" | "missing" | "unreadable";

interface Waiting {
  /** The object as it was last passed on: as if it were not being deleted. */
  reported: KubeObject;
  /** The object as it is now; undefined = it is gone. */
  actual: KubeObject | undefined;
}

const askAgainMs = 1_000;

export class DeferredDeletions implements WatchSink {
  readonly #options: DeferredDeletionsOptions;
  readonly #stopping = new AbortController();
  readonly #waiting = new Map<string, Waiting>();
  #isAsking = false;
  #wasRead = false;
  #hasStood = false;

  constructor(options: DeferredDeletionsOptions) {
    this.#options = options;
  }

  /** Asks once in any case: a right that is missing later was there before. */
  start(): void {
    void this.#askWhileWaiting();
  }

  stop(): void {
    this.#stopping.abort(new Error("the watch was stopped"));
  }

  /** False until the definition stood once: what is absent before may have gone with it. */
  hasStood(): boolean {
    return this.#hasStood;
  }

  /** True for an object whose deletion waits: it counts as existing. */
  isWaiting(namespace: string, name: string): boolean {
    return this.#waiting.has(`${namespace}/${name}`);
  }

  upserted(object: KubeObject, before: KubeObject | undefined, listed: boolean): void {
    const { sink } = this.#options;
    const waiting = this.#waiting.get(keyOf(object));
    if (waiting?.reported.metadata.uid === object.metadata.uid) {
      const reported = undeleted(object);
      sink.upserted(reported, waiting.reported, listed);
      Object.assign(waiting, { reported, actual: object });
      return;
    }
    // Without a definition nothing is created: the one before was deleted by itself, or the definition is back.
    if (waiting !== undefined) this.#passOn(waiting);
    if (!isDeleting(object) || (before !== undefined && isDeleting(before))) {
      sink.upserted(object, before, listed);
      return;
    }
    const reported = undeleted(object, before);
    sink.upserted(reported, before, listed);
    this.#defer({ reported, actual: object });
  }

  removed(object: KubeObject, listed: boolean): void {
    const waiting = this.#waiting.get(keyOf(object));
    if (waiting !== undefined) waiting.actual = undefined;
    // Its deletion was passed on when it began.
    else if (isDeleting(object)) this.#options.sink.removed(object, listed);
    else this.#defer({ reported: object, actual: undefined });
  }

  /**
   * Asks until the API server answers. Where the definition stands, passes on the deletions that arrived before the question.
   * Rejects when the signal is aborted.
   */
  async ask(signal: AbortSignal): Promise<DefinitionState> {
    const { onWait, timers } = this.#options;
    for (;;) {
      const arrived = [...this.#waiting.values()];
      try {
        const state = await this.#read(signal);
        if (state === "stands") this.#stands(arrived);
        else onWait(state);
        return state;
      } catch (error) {
        signal.throwIfAborted();
        onWait(describeError(error));
      }
      await pause(timers, askAgainMs, signal);
    }
  }

  async #askWhileWaiting(): Promise<void> {
    const { signal } = this.#stopping;
    this.#isAsking = true;
    try {
      do {
        const state = await this.ask(signal);
        if (state !== "stands") await pause(this.#options.timers, askAgainMs, signal);
      } while (this.#waiting.size > 0 || !this.#hasStood);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      // In the same step as the last look at what waits: no deletion arrives in between.
      this.#isAsking = false;
    }
  }

  async #read(signal: AbortSignal): Promise<DefinitionState> {
    const { kind, reader } = this.#options;
    const { plural, group } = customTypes[kind];
    try {
      const name = { namespace: "", name: `${plural}.${group}` };
      const definition = await reader.get(definitionType, name, { signal });
      this.#wasRead = true;
      if (definition === undefined) return "missing";
      return isDeleting(definition) ? "deleting" : "stands";
    } catch (error) {
      if (!isForbidden(error)) throw error;
      // Without the right from the start, each deletion counts at once.
      return this.#wasRead ? "unreadable" : "stands";
    }
  }

  #stands(arrived: readonly Waiting[]): void {
    this.#hasStood = true;
    for (const waiting of arrived) if (this.#waiting.get(keyOf(waiting.reported)) === waiting) this.#passOn(waiting);
  }

  #defer(waiting: Waiting): void {
    this.#waiting.set(keyOf(waiting.reported), waiting);
    if (!this.#isAsking) void this.#askWhileWaiting();
  }

  #passOn({ reported, actual }: Waiting): void {
    this.#waiting.delete(keyOf(reported));
    if (actual === undefined) this.#options.sink.removed(reported, false);
    else this.#options.sink.upserted(actual, reported, false);
  }
}

/** `before` with the metadata of the object, which can be written; by its generation nothing has to be done for it. */
function undeleted(object: KubeObject, before = object): KubeObject {
  const { deletionTimestamp: _, ...metadata } = object.metadata;
  const { generation } = before.metadata;
  return { ...before, metadata: { ...metadata, ...(generation !== undefined && { generation }) } };
}
