// Looks at the CustomResourceDefinition of one kind whenever that is asked for: one look after the other, so that no answer is older
// than one before it, and again for as long as a look fails. Remembers which definitions there were.

import type { Kind } from "../../core/manifests/object.ts";
import { pause, type Timers } from "../../core/timers.ts";
import { joinSignals, startDeadline } from "../kube/deadline.ts";
import type { DefinitionState, LookAtDefinition } from "./definitions.ts";

export interface DefinitionLooksOptions {
  readonly kind: Kind;
  readonly look: LookAtDefinition;
  readonly timers: Timers;
  readonly onLookFailed: (error: unknown) => void;
  /** Called with each answer, before the callers that wait for it. */
  readonly onAnswer: (answer: DefinitionAnswer) => void;
}

export interface DefinitionAnswer {
  readonly state: DefinitionState;
  /** The look began after `ask` had answered with this, and before it answered with more. */
  readonly asked: number;
  /** UID of the definition that stood when this process looked first; undefined = this is the first answer. */
  readonly first: string | undefined;
  /** UID of the definition that stood last before this one, which is what gone objects went with; undefined = none was ever seen. */
  readonly former: string | undefined;
}

const lookAgainMs = 1_000;

export class DefinitionLooks {
  readonly #options: DefinitionLooksOptions;
  readonly #stopping = new AbortController();
  #asked = 0;
  /** `#asked` when the last look that was answered began. */
  #answered = 0;
  #isLooking = false;
  #next = Promise.withResolvers<DefinitionAnswer | "refused">();
  #first: string | undefined;
  /** The one that stood last, and the one before it. */
  #last: string | undefined;
  #lastButOne: string | undefined;
  #isStanding = false;

  constructor(options: DefinitionLooksOptions) {
    this.#options = options;
  }

  /** Wants a look that begins now or later; answers with how many were wanted until now. */
  ask(): number {
    this.#asked += 1;
    if (!this.#isLooking) void this.#lookWhileDue();
    return this.#asked;
  }

  /** How many looks were wanted until now. */
  asked(): number {
    return this.#asked;
  }

  /**
   * The next answer, also that of a look that began before; `refused` = the right to look was taken away, and until it is given again
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

  /** UID of the definition that stood at the last look; undefined when none did. */
  standing(): string | undefined {
    return this.#isStanding ? this.#last : undefined;
  }

  stop(): void {
    this.#stopping.abort(new Error("the watch was stopped"));
  }

  async #lookWhileDue(): Promise<void> {
    const { kind, look, timers, onLookFailed } = this.#options;
    const { signal } = this.#stopping;
    this.#isLooking = true;
    while (this.#answered < this.#asked && !signal.aborted) {
      const asked = this.#asked;
      try {
        this.#take(await look(kind), asked);
      } catch (error) {
        onLookFailed(error);
        await pause(timers, lookAgainMs, signal).catch(() => undefined);
      }
    }
    // Within the same step as the last comparison: nobody can ask in between, and be forgotten.
    this.#isLooking = false;
  }

  /** Throws when it is no answer. */
  #take(state: DefinitionState, asked: number): void {
    const first = this.#first;
    if (state.what === "unknown" && first !== undefined) {
      this.#answer("refused");
      throw state.error;
    }
    if (state.what === "stands") this.#noteStanding(state.uid);
    this.#isStanding = state.what === "stands";
    const former = state.what === "stands" ? this.#lastButOne : this.#last;
    const answer = { state, asked, first, former };
    this.#options.onAnswer(answer);
    this.#answered = asked;
    this.#answer(answer);
  }

  #noteStanding(uid: string): void {
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
