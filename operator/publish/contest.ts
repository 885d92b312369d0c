// Whether the epoch may be taken from whoever holds it. Of one installation whoever has the Lease takes it at once. Two whose key rings are
// copies of one another have a Lease each, and would take it from one another for ever: a holder of another place is asked whether it is
// still there, and as long as it answers it keeps the epoch. Refuses with KeyRingCopied then, and with WriterAsked until it is known.

import { randomUUID } from "node:crypto";
import type { Monotonic } from "../../core/timers.ts";
import { KeyRingCopied, NotTheWriter, WriterAsked } from "./refusals.ts";

/** Who writes, as an epoch names it. An operator of an earlier version wrote epochs that don't. */
export interface Writer {
  /** Where its key ring is: no other Secret has this text, whatever was copied into it. */
  readonly place: string;
  /** One publisher of one process. */
  readonly name: string;
}

/** Never one that was there before, whatever becomes of Redis: a count would begin anew. */
export function newEpoch({ place, name }: Writer): string {
  return `${place}#${name}#${randomUUID()}`;
}

/** Of an epoch, or of a question to its holder. */
export function writerOf(text: string): Writer | undefined {
  const [place, name, id, ...rest] = text.split("#");
  if (!place || !name || !id || rest.length > 0) return undefined;
  return { place, name };
}

/** What Redis says of the writer. */
export interface Standing {
  /** Empty = none. */
  readonly epoch: string;
  /** What the holder is asked and has not answered; empty = nothing. */
  readonly question: string;
}

export type ContestObservation =
  /** The holder is of another installation, at this place, and has answered. */
  | { readonly kind: "answered"; readonly place: string }
  /** Another installation asks this one, which holds the epoch, whether it is there. */
  | { readonly kind: "asked"; readonly place: string };

export interface ContestDeps {
  readonly me: Writer;
  /** Asks the holder of `epoch`: answers with the question that stands now, or undefined where somebody else holds it by now. */
  readonly ask: (epoch: string, question: string) => Promise<string | undefined>;
  readonly monotonic: Monotonic;
  readonly observe: (observation: ContestObservation) => void;
}

/** As long as others leave a Lease alone. A holder looks every two seconds. */
const answerMs = 15_000;
/** Who did not look for so long can't tell whether Redis was there for the holder to answer. */
const longestGapMs = 6_000;
const firstWaitMs = 5_000;
const longestWaitMs = 300_000;

interface Asked {
  readonly holder: string;
  readonly question: string;
  readonly since: number;
  readonly lookedAt: number;
}

export class Contest {
  readonly #deps: ContestDeps;
  /** The epoch that was taken last, from another writer. */
  #taken = "";
  #asked: Asked | undefined;
  #refused: { readonly holder: string; readonly answers: number; readonly until: number } | undefined;

  constructor(deps: ContestDeps) {
    this.#deps = deps;
  }

  /** Throws unless the epoch may be taken now. */
  async settle(standing: Standing): Promise<void> {
    const { epoch } = standing;
    if (!this.#isAnothers(epoch)) return;
    const holder = holderOf(epoch);
    if (this.#refused?.holder !== holder) this.#refused = undefined;
    if (this.#asked?.holder !== holder) return await this.#ask(epoch, holder);
    this.#judge(standing, this.#asked);
  }

  /** The epoch was taken from `epoch`. */
  took(epoch: string): void {
    if (holderOf(epoch) !== holderOf(this.#deps.me)) this.#taken = epoch;
    this.#asked = undefined;
    this.#refused = undefined;
  }

  /**
   * Of one place only one has the Lease. An epoch that names none is of an earlier version, which answers nothing. A Redis that went back has
   * an epoch of then: of the same place, or the very one that was taken.
   */
  #isAnothers(epoch: string): boolean {
    const writer = writerOf(epoch);
    return writer !== undefined && writer.place !== this.#deps.me.place && epoch !== this.#taken;
  }

  async #ask(epoch: string, holder: string): Promise<never> {
    const { ask, me, monotonic } = this.#deps;
    const now = monotonic();
    if (this.#refused !== undefined && now < this.#refused.until) throw copied();
    const question = await ask(epoch, newEpoch(me));
    if (question === undefined) throw new NotTheWriter("Another publisher has begun at the same time");
    this.#asked = { holder, question, since: now, lookedAt: now };
    throw this.#open();
  }

  #judge({ epoch, question }: Standing, asked: Asked): void {
    const { monotonic, observe } = this.#deps;
    const now = monotonic();
    if (question !== asked.question) {
      const answers = (this.#refused?.answers ?? 0) + 1;
      const wait = Math.min(firstWaitMs * 2 ** (answers - 1), longestWaitMs);
      this.#refused = { holder: asked.holder, answers, until: now + wait };
      this.#asked = undefined;
      observe({ kind: "answered", place: writerOf(epoch)?.place ?? "" });
      throw copied();
    }
    const since = now - asked.lookedAt > longestGapMs ? now : asked.since;
    this.#asked = { ...asked, since, lookedAt: now };
    if (now - since < answerMs) throw this.#open();
  }

  /** What its earlier answers said holds until it is known to be gone. */
  #open(): Error {
    return this.#refused === undefined
      ? new WriterAsked(
          "Another installation with this key ring held this Redis, and is asked whether it is still there",
        )
      : copied();
  }
}

/** Stays the same while one publisher begins again and again. */
function holderOf(writer: string | Writer): string {
  const named = typeof writer === "string" ? writerOf(writer) : writer;
  return named === undefined ? "" : `${named.place}#${named.name}`;
}

function copied(): KeyRingCopied {
  return new KeyRingCopied(
    "Another installation, with a copy of this one's key ring, writes to this Redis: name another Redis with --redis, stop one of the two, or start this one with --adopt-data to take the Redis over",
  );
}
