// Stands between the watch of one kind and whoever acts on it: a deletion is passed on only once the API server has said, when asked
// after the deletion arrived, that the kind's CustomResourceDefinition stands. Objects that went with their definition are held: they
// stay as they were last, until objects of their names are there again, or a person confirms their deletion.

import type { ProjectRef } from "../../core/config/types.ts";
import type { Kind } from "../../core/manifests/object.ts";
import { pause, type Timers } from "../../core/timers.ts";
import type { KubeObject } from "../kube/api.ts";
import type { DefinitionState, LookAtDefinition } from "./definitions.ts";
import { keyOf } from "./object-cache.ts";
import { customResource, projectRefOf } from "./project-index.ts";
import type { WatchSink } from "./watched.ts";

/** What is held of one kind. */
export interface HeldKind {
  readonly kind: Kind;
  /** UID of the definition that the objects went with. */
  readonly definition: string;
  /** Of each object, the Project that it belongs to, or is. */
  readonly projects: readonly ProjectRef[];
}

export interface HeldDeletionsOptions {
  readonly kind: Kind;
  readonly look: LookAtDefinition;
  readonly sink: WatchSink;
  readonly timers: Timers;
  readonly onLookFailed: (error: unknown) => void;
}

/** A deletion that was not passed on. */
interface Deletion {
  /** What was passed on last. */
  readonly shown: KubeObject;
  /** The object on its way out, where it still exists. */
  readonly live: KubeObject | undefined;
  /** Its definition has gone; false = it waits for a look. */
  readonly isHeld: boolean;
}

const lookAgainMs = 1_000;

export class HeldDeletions implements WatchSink {
  readonly #options: HeldDeletionsOptions;
  readonly #deletions = new Map<string, Deletion>();
  readonly #stopping = new AbortController();
  /** UID of the definition that stood when this process looked first. */
  #first: string | undefined;
  /** UID of the one that stood last. */
  #standing: string | undefined;
  /** UID of the one that what is held went with. */
  #lost = "";
  #isStanding = false;
  #looking: Promise<void> | undefined;
  #isLookDue = false;

  constructor(options: HeldDeletionsOptions) {
    this.#options = options;
  }

  upserted(object: KubeObject, before: KubeObject | undefined, listed: boolean): void {
    const deletion = this.#deletions.get(keyOf(object));
    if (deletion === undefined) this.#takeUpserted(object, before, listed);
    else if (deletion.shown.metadata.uid === object.metadata.uid) this.#update({ ...deletion, live: object });
    else this.#replace(deletion, object, listed);
  }

  removed(before: KubeObject, listed: boolean): void {
    const deletion = this.#deletions.get(keyOf(before));
    if (deletion !== undefined) this.#update({ ...deletion, live: undefined });
    // Its deletion was passed on when it began.
    else if (isLeaving(before)) this.#options.sink.removed(before, listed);
    else this.#putOff({ shown: before, live: undefined, isHeld: false });
  }

  /** Undefined while nothing is held. */
  held(): HeldKind | undefined {
    const held = this.#held();
    if (held.length === 0) return undefined;
    const { kind } = this.#options;
    const projects = held.map(({ shown }) => projectRefOf(customResource(kind, shown)));
    return { kind, definition: this.#lost, projects };
  }

  isHeld(namespace: string, name: string): boolean {
    return this.#deletions.get(`${namespace}/${name}`)?.isHeld === true;
  }

  /** Looks at the definition, in order to know a later one from it. */
  learn(): void {
    this.#isLookDue = true;
    this.#looking ??= this.#lookWhileDue().finally(() => {
      this.#looking = undefined;
    });
  }

  /** Resolves once every deletion that arrived before this call was passed on, or is held. Rejects when the signal is aborted. */
  async settled(signal: AbortSignal): Promise<void> {
    const arrived = this.#waiting();
    const isWaiting = (): boolean => arrived.some((key) => this.#deletions.get(key)?.isHeld === false);
    const aborted = Promise.withResolvers<void>();
    const end = (): void => aborted.resolve();
    signal.addEventListener("abort", end);
    try {
      while (isWaiting()) {
        signal.throwIfAborted();
        this.#stopping.signal.throwIfAborted();
        if (this.#looking === undefined) this.learn();
        await Promise.race([this.#looking, aborted.promise]);
      }
    } finally {
      signal.removeEventListener("abort", end);
    }
  }

  /** UID of the definition that stood at the last look; undefined when none did. */
  standing(): string | undefined {
    return this.#isStanding ? this.#standing : undefined;
  }

  /** Asks until it is answered. Rejects when the signal is aborted. */
  async isDefinitionGone(signal: AbortSignal): Promise<boolean> {
    const { look, kind, onLookFailed, timers } = this.#options;
    for (;;) {
      signal.throwIfAborted();
      try {
        const state = await look(kind);
        this.#decide([], state);
        return state.what === "gone";
      } catch (error) {
        onLookFailed(error);
        await pause(timers, lookAgainMs, signal);
      }
    }
  }

  /** Takes all that is held for deleted. */
  release(): void {
    for (const deletion of this.#held()) this.#passOn(deletion);
    this.learn();
  }

  stop(): void {
    this.#stopping.abort(new Error("the watch was stopped"));
  }

  // ---------------------------------------------------------------------------------------------------------------- inside

  #held(): readonly Deletion[] {
    return [...this.#deletions.values()].filter(({ isHeld }) => isHeld);
  }

  /** Keys of deletions that wait for a look. */
  #waiting(): readonly string[] {
    return [...this.#deletions].filter(([, { isHeld }]) => !isHeld).map(([key]) => key);
  }

  #takeUpserted(object: KubeObject, before: KubeObject | undefined, listed: boolean): void {
    const { sink } = this.#options;
    if (!isLeaving(object) || (before !== undefined && isLeaving(before))) {
      sink.upserted(object, before, listed);
      return;
    }
    const shown = before ?? asItWas(object, object);
    if (before === undefined) sink.upserted(shown, undefined, listed);
    this.#putOff({ shown, live: object, isHeld: false });
  }

  /** Puts a deletion off until the definition was looked at. */
  #putOff(deletion: Deletion): void {
    this.#deletions.set(keyOf(deletion.shown), deletion);
    this.learn();
  }

  #update(deletion: Deletion): void {
    if (deletion.isHeld) this.#hold(deletion);
    else this.#deletions.set(keyOf(deletion.shown), deletion);
  }

  /** Made anew under its name. What is held was not deleted, and is succeeded to. */
  #replace({ shown, isHeld }: Deletion, object: KubeObject, listed: boolean): void {
    const { kind, sink } = this.#options;
    this.#deletions.delete(keyOf(object));
    const [was, is] = [shown, object].map((each) => projectRefOf(customResource(kind, each)).name);
    if (!isHeld || was !== is) sink.removed(shown, listed);
    sink.upserted(object, undefined, listed);
    this.learn();
  }

  #hold({ shown, live }: Deletion): void {
    const next = asItWas(shown, live);
    this.#deletions.set(keyOf(shown), { shown: next, live, isHeld: true });
    this.#options.sink.upserted(next, shown, false);
  }

  #passOn({ shown, live }: Deletion): void {
    this.#deletions.delete(keyOf(shown));
    if (live === undefined) this.#options.sink.removed(shown, false);
    else this.#options.sink.upserted(live, shown, false);
  }

  async #lookWhileDue(): Promise<void> {
    const { kind, look, timers, onLookFailed } = this.#options;
    const { signal } = this.#stopping;
    while (this.#isLookDue && !signal.aborted) {
      this.#isLookDue = false;
      // What comes during the look waits for the next one: the answer may be older than it.
      const waiting = this.#waiting();
      try {
        this.#decide(waiting, await look(kind));
      } catch (error) {
        this.#isLookDue = true;
        onLookFailed(error);
        await pause(timers, lookAgainMs, signal).catch(() => undefined);
      }
    }
  }

  #decide(keys: readonly string[], state: DefinitionState): void {
    if (this.#held().length === 0) this.#lost = (state.what === "terminating" ? state.uid : this.#standing) ?? "";
    for (const key of keys) {
      const deletion = this.#deletions.get(key);
      if (deletion === undefined || deletion.isHeld) continue;
      if (wentWithDefinition(deletion.shown, state, this.#first)) this.#hold(deletion);
      else this.#passOn(deletion);
    }
    this.#isStanding = state.what === "stands";
    if (state.what !== "stands") return;
    this.#first ??= state.uid;
    this.#standing = state.uid;
  }
}

/**
 * The definition was deleted always before its objects. One that stands may be another one than the object's: then the object is older
 * than it.
 */
function wentWithDefinition(object: KubeObject, state: DefinitionState, first: string | undefined): boolean {
  if (state.what === "unknown") return false;
  if (state.what !== "stands") return true;
  const isReplaced = first !== undefined && first !== state.uid;
  return isReplaced && (Date.parse(object.metadata.creationTimestamp ?? "") || 0) < state.createdAt;
}

function isLeaving({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** What was shown, not on its way out; what can be written to is that of `live`, and nothing where there is none. */
function asItWas(shown: KubeObject, live: KubeObject | undefined): KubeObject {
  const { deletionTimestamp: _, finalizers: __, ...metadata } = (live ?? shown).metadata;
  const finalizers = live?.metadata.finalizers;
  return { ...shown, metadata: { ...metadata, ...(finalizers !== undefined && { finalizers }) } };
}
