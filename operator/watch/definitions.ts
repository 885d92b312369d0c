// Reads the CustomResourceDefinition of a kind from the API server: when it goes, all objects of the kind go with it, though nobody asked for
// the deletion of any one of them. Remembers which definitions there were.

import type { Kind } from "../../core/manifests/object.ts";
import { pause, type Timers } from "../../core/timers.ts";
import { isForbidden, type KubeReader } from "../kube/api.ts";
import { joinSignals, startDeadline } from "../kube/deadline.ts";
import { customTypes, definitionType } from "../kube/resource-types.ts";

export interface DefinitionFound {
  readonly uid: string;
  /** Milliseconds since 1970, a whole second. */
  readonly createdAt: number;
  /** Of its last change. */
  readonly resourceVersion: string;
}

export type DefinitionState =
  | ({ readonly what: "present" } & DefinitionFound)
  /** It is being deleted: its objects go first, then the definition. */
  | ({ readonly what: "terminating" } & DefinitionFound)
  | { readonly what: "gone" }
  /** The right to read it is missing; `error` = the answer of the API server. */
  | { readonly what: "unknown"; readonly error: unknown };

/** Reads consistently. Throws the failure, unless the API server refuses. */
export type ReadDefinition = (kind: Kind) => Promise<DefinitionState>;

export function definitionNameOf(kind: Kind): string {
  const { plural, group } = customTypes[kind];
  return `${plural}.${group}`;
}

export function createReadDefinition(reader: Pick<KubeReader, "get">): ReadDefinition {
  return async (kind) => {
    try {
      const found = await reader.get(definitionType, { namespace: "", name: definitionNameOf(kind) });
      if (found === undefined) return { what: "gone" };
      const { uid, deletionTimestamp, creationTimestamp, resourceVersion } = found.metadata;
      const createdAt = Date.parse(creationTimestamp ?? "") || 0;
      return { what: deletionTimestamp === undefined ? "present" : "terminating", uid, createdAt, resourceVersion };
    } catch (error) {
      if (isForbidden(error)) return { what: "unknown", error };
      throw error;
    }
  };
}

export interface DefinitionReaderOptions {
  readonly kind: Kind;
  readonly read: ReadDefinition;
  readonly timers: Timers;
  readonly onReadFailed: (error: unknown) => void;
  /** Called with each answer, before the callers that wait for it. */
  readonly onAnswer: (answer: DefinitionAnswer) => void;
}

export interface DefinitionAnswer {
  readonly state: DefinitionState;
  /** The reading began after `ask` had answered with this, and before it answered with more. */
  readonly asked: number;
  /** UID of the definition that was there when this process read it first; undefined = this is the first answer. */
  readonly first: string | undefined;
  /** UID of the definition before this one, with which gone objects went; undefined = none was ever seen. */
  readonly former: string | undefined;
}

const readAgainMs = 1_000;

/**
 * Reads the definition of one kind whenever that is asked for: one reading after the other, so that no answer is older than one before it, and
 * again for as long as a reading fails.
 */
export class DefinitionReader {
  readonly #options: DefinitionReaderOptions;
  readonly #stopping = new AbortController();
  #asked = 0;
  /** `#asked` when the last reading that was answered began. */
  #answered = 0;
  #isReading = false;
  #next = Promise.withResolvers<DefinitionAnswer | "refused">();
  #first: string | undefined;
  /** The newest one that was there, and the one before it. */
  #last: string | undefined;
  #lastButOne: string | undefined;
  #isPresent = false;

  constructor(options: DefinitionReaderOptions) {
    this.#options = options;
  }

  /** Asks for a reading that begins now or later; returns how many were asked for until now. */
  ask(): number {
    this.#asked += 1;
    if (!this.#isReading) void this.#readWhileDue();
    return this.#asked;
  }

  /** How many readings were asked for until now. */
  asked(): number {
    return this.#asked;
  }

  /**
   * The next answer, also that of a reading that began before; `refused` = the right to read was taken away, and until it is given again
   * there is none. Rejects when the signal is aborted.
   */
  async nextAnswer(signal: AbortSignal): Promise<DefinitionAnswer | "refused"> {
    const either = joinSignals([signal, this.#stopping.signal]);
    const deadline = startDeadline(either.signal, undefined);
    try {
      return await deadline.race(this.#next.promise);
    } finally {
      deadline.end();
      either.end();
    }
  }

  /** UID of the definition that was there at the last reading; undefined when none was. */
  currentUid(): string | undefined {
    return this.#isPresent ? this.#last : undefined;
  }

  stop(): void {
    this.#stopping.abort(new Error("the watch was stopped"));
  }

  async #readWhileDue(): Promise<void> {
    const { kind, read, timers, onReadFailed } = this.#options;
    const { signal } = this.#stopping;
    this.#isReading = true;
    while (this.#answered < this.#asked && !signal.aborted) {
      const asked = this.#asked;
      try {
        this.#take(await read(kind), asked);
      } catch (error) {
        onReadFailed(error);
        await pause(timers, readAgainMs, signal).catch(() => undefined);
      }
    }
    // Within the same step as the last comparison: nobody can ask in between, and be forgotten.
    this.#isReading = false;
  }

  /** Throws when it is not an answer. */
  #take(state: DefinitionState, asked: number): void {
    const first = this.#first;
    if (state.what === "unknown" && first !== undefined) {
      this.#answer("refused");
      throw state.error;
    }
    if (state.what === "present") this.#notePresent(state.uid);
    this.#isPresent = state.what === "present";
    const former = state.what === "present" ? this.#lastButOne : this.#last;
    const answer = { state, asked, first, former };
    this.#options.onAnswer(answer);
    this.#answered = asked;
    this.#answer(answer);
  }

  #notePresent(uid: string): void {
    this.#first ??= uid;
    if (uid === this.#last) return;
    this.#lastButOne = this.#last;
    this.#last = uid;
  }

  #answer(answer: DefinitionAnswer | "refused"): void {
    const { resolve } = this.#next;
    this.#next = Promise.withResolvers();
    resolve(answer);
  }
}
