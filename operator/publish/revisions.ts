// Gives each step its revision, one step after the other: a step is sealed for the revision that follows the newest. Refuses
// with NotTheWriter once Redis says another revision than the one it was left with: it has lost writes, or somebody else wrote.

import type { Clock } from "../../core/clock.ts";
import type { PublishReply } from "./publish-scripts.ts";
import { NotTheWriter } from "./refusals.ts";

export interface Numbered {
  /** What meta must say, so that `revision` is the next one. */
  readonly lastRevision: string;
  readonly revision: number;
}

export class Revisions {
  readonly #clock: Clock;
  #last: string;
  #given: number;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(last: string, clock: Clock) {
    this.#clock = clock;
    this.#last = last;
    this.#given = Number(last);
  }

  newest(): number {
    return Number(this.#last);
  }

  /** Whether `found`, which meta says, is what this writer left there. Asks `find` while no step is under way. */
  stands(find: () => Promise<string>): Promise<boolean> {
    return this.#inTurn(async () => (await find()) === this.#last);
  }

  /** Runs one step with the next revision, and answers with it. */
  advance(run: (numbered: Numbered) => Promise<PublishReply>): Promise<number> {
    return this.#inTurn(async () => {
      // Milliseconds, so that revisions go on growing when Redis was emptied and the count began anew.
      const revision = Math.max(this.#given + 1, this.#clock.now());
      this.#given = revision;
      const reply = await run({ lastRevision: this.#last, revision });
      if (reply.outcome !== "published") throw lostWriter();
      this.#last = String(revision);
      return revision;
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }
}

export function lostWriter(): NotTheWriter {
  return new NotTheWriter("Another publisher writes, or the configuration was emptied or lost writes");
}
