// Reads one log for all streams of a replica that follow it: each change is read once. The first
// change after a pause is sent at once. Then there are rounds, every 20 ms, in which each stream is
// sent what is new. A stream that is behind the others reads by itself, or together with those at
// the same position.

import { setImmediate as othersFirst } from "node:timers/promises";
import type { Clock } from "../../core/clock.ts";
import { pauseUnlessAborted, type Timers } from "../../core/timers.ts";
import type { ChangeLogs, LoggedRef, LogPosition } from "../store/ports/changes.ts";
import { type Batch, type BatchRead, type BatchStore, lacksSeen, readBatch } from "./batch.ts";
import { isBefore, laterOf } from "./positions.ts";

export interface FeedDeps {
  readonly store: BatchStore & Pick<ChangeLogs, "onChanges">;
  readonly clock: Clock;
  readonly timers: Timers;
  /** Called with failures of the store, which is asked again. */
  readonly onFailure: (failure: unknown) => void;
}

/** A stream, or a request that waits: how far it has followed the log. */
export interface Reader {
  readonly position: LogPosition;
  /** The newest entry whose effect it has seen, or `position`. */
  readonly seen: LogPosition;
  /** A moment of the feed. It is sent nothing that was read before. */
  readonly since: number;
}

/** Takes a batch, and goes on waiting behind it. False where it has to be woken for it. */
export type Take = (batch: Batch) => boolean | Promise<boolean>;

interface Waiting {
  readonly reader: Reader;
  readonly take: Take;
  /** Called when it is to look again. A promise would keep all who left. */
  wake(): void;
}

interface ReadUnderWay {
  readonly began: number;
  readonly read: Promise<BatchRead>;
}

/** Between beginnings of rounds, in each of which all who wait are sent what is new. */
const betweenRoundsMs = 20;
/** Between beginnings of reads in a long round: those who come late in it are sent more. */
const betweenReadsMs = 10;
/** Each takes some 10 µs. */
const sentAtOnce = 64;
/** How often the log is read without a hint, because hints get lost with connections. */
const rereadMs = 5_000;
const retryMs = 1_000;
const never: Take = () => false;
/** Of batches that are kept for streams a little behind the end. */
const maxKept = 64;
const maxKeptCharacters = 1024 * 1024;

export class Feed {
  readonly #deps: FeedDeps;
  readonly #ref: LoggedRef;
  readonly #ending = new AbortController();
  readonly #endHints: () => void;
  /** Reads under way that streams at one position share. */
  readonly #reads = new Map<LogPosition, ReadUnderWay>();
  /** Counts beginnings and ends of reads. */
  #moments = 0;
  /** The newest batches. Each begins where the one before ends. */
  #kept: Batch[] = [];
  /** The newest entry that was read. */
  #end: LogPosition;
  /** The newest entry whose effect a reader has seen. */
  #seen: LogPosition;
  readonly #waiting = new Set<Waiting>();
  #arrivals = 0;
  #hint = Promise.withResolvers<void>();
  #isHinted = false;
  #readAt = Number.NEGATIVE_INFINITY;
  /** Whether all who wait were sent what was read, or are in the round under way. */
  #isSent = true;
  #gone: Exclude<BatchRead, Batch> | undefined;

  /** `end` = the newest entry that the caller knows. */
  constructor(deps: FeedDeps, ref: LoggedRef, end: LogPosition) {
    this.#deps = deps;
    this.#ref = ref;
    this.#end = end;
    this.#seen = end;
    this.#endHints = deps.store.onChanges(ref, () => this.#noteHint());
    void this.#follow();
  }

  /**
   * The changes behind a position, once there are any. They were read at `since` or later, so that
   * nobody is sent an older text of an object than before. Undefined when `signal` is aborted.
   * Throws as the store does, where the position is not near the end.
   */
  async next(reader: Reader, signal: AbortSignal, take: Take = never): Promise<BatchRead | undefined> {
    this.#seen = laterOf(this.#seen, reader.seen);
    while (!signal.aborted) {
      const { position, seen, since } = reader;
      // Before it looks: a batch that arrives meanwhile would be missed.
      const arrivals = this.#arrivals;
      const known = this.#gone ?? this.#keptBehind(position, since) ?? (await this.#readBehind(position, since));
      if (known !== undefined) return known;
      if (isBefore(this.#end, seen)) this.#noteHint();
      if (arrivals === this.#arrivals) await this.#arrival({ reader, take }, signal);
    }
    return undefined;
  }

  /** Streams that wait for a batch. */
  get waiting(): number {
    return this.#waiting.size;
  }

  #arrival(of: Omit<Waiting, "wake">, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(waiting);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      const waiting = { ...of, wake };
      this.#waiting.add(waiting);
      signal.addEventListener("abort", wake);
    });
  }

  /** Whether there are changes behind it that have to be read for it. */
  isBehind({ position, since }: Reader): boolean {
    return (
      this.#gone === undefined &&
      isBefore(position, this.#end) &&
      !this.#reads.has(position) &&
      this.#keptBehind(position, since) === undefined
    );
  }

  #keptBehind(position: LogPosition, since: number): Batch | undefined {
    if (position === this.#end) return undefined;
    // From the newest one, where most readers are.
    const found = this.#kept.findLast(({ from, end }) => isBefore(position, end) && !isBefore(position, from));
    return found !== undefined && found.began >= since ? found : undefined;
  }

  /** Undefined at the end. */
  async #readBehind(position: LogPosition, since: number): Promise<BatchRead | undefined> {
    if (!isBefore(position, this.#end)) return undefined;
    const read = await this.read(position, since);
    return read.outcome === "batch" && read.end === position ? undefined : read;
  }

  /** Whether the log has lost what was read last. Then those who follow it have to list again. */
  get isGone(): boolean {
    return this.#gone !== undefined;
  }

  /** Now. Every read that begins from here on has a later moment. */
  moment(): number {
    this.#moments += 1;
    return this.#moments;
  }

  /** The changes behind a position, of which there may be none yet. */
  read(position: LogPosition, since = 0): Promise<BatchRead> {
    const underWay = this.#reads.get(position);
    if (underWay !== undefined && underWay.began >= since) return underWay.read;
    const began = this.moment();
    const read = this.#readFrom(position, began).finally(() => {
      if (this.#reads.get(position)?.began === began) this.#reads.delete(position);
    });
    this.#reads.set(position, { began, read });
    return read;
  }

  async #readFrom(position: LogPosition, began: number): Promise<BatchRead> {
    const read = await readBatch(this.#deps.store, this.#ref, position);
    return read.outcome === "batch" ? { ...read, began, ended: this.moment() } : read;
  }

  close(): void {
    this.#ending.abort();
    this.#endHints();
    this.#noteHint();
  }

  async #follow(): Promise<void> {
    const { clock, timers, onFailure } = this.#deps;
    const { signal } = this.#ending;
    while (!signal.aborted && !(this.isGone && this.#isSent)) {
      try {
        const began = clock.monotonic();
        await this.#readOn();
        if (this.#isSent) await this.#hintOrTime();
        else {
          await this.#sendAll();
          await pauseUnlessAborted(timers, Math.max(betweenRoundsMs - (clock.monotonic() - began), 0), signal);
        }
      } catch (failure) {
        onFailure(failure);
        // What was read in the round before.
        if (!this.#isSent) await this.#sendAll();
        await pauseUnlessAborted(timers, retryMs, signal);
      }
    }
  }

  async #readOn(): Promise<void> {
    if (this.isGone) return;
    this.#hint = Promise.withResolvers();
    this.#isHinted = false;
    this.#readAt = this.#deps.clock.monotonic();
    const seen = this.#seen;
    // A read that began before the hint may lack the change.
    const read = await this.read(this.#end, this.moment());
    if (read.outcome !== "batch") this.#gone = read;
    else if (read.end === this.#end && isBefore(this.#end, seen)) this.#gone = { outcome: "lost" };
    else if (read.end === this.#end) return;
    else {
      this.#keep(read);
      this.#seen = laterOf(this.#seen, read.seen);
    }
    this.#arrivals += 1;
    this.#isSent = false;
  }

  /** Some at a time: other requests are served between, and in a long round the log is read. */
  async #sendAll(): Promise<void> {
    this.#isSent = true;
    let sent = 0;
    let reading: Promise<void> | undefined;
    for (const waiting of [...this.#waiting]) {
      await this.#sendTo(waiting);
      sent += 1;
      if (sent % sentAtOnce > 0) continue;
      await othersFirst();
      if (reading === undefined && this.#isReadDue()) {
        // After a failure the others are still sent what was read before.
        reading = this.#readOn()
          .catch(this.#deps.onFailure)
          .finally(() => {
            reading = undefined;
          });
      }
    }
    await reading;
  }

  async #sendTo(waiting: Waiting): Promise<void> {
    try {
      const isTaken = this.#takesAll(waiting);
      if (!(isTaken instanceof Promise ? await isTaken : isTaken)) waiting.wake();
    } catch {
      // It fails again where it sends the batch by itself, and says so.
      waiting.wake();
    }
  }

  #isReadDue(): boolean {
    return this.#isHinted && this.#deps.clock.monotonic() - this.#readAt >= betweenReadsMs;
  }

  /** Whether one who waits is behind all that was read, or has taken it. */
  #takesAll(waiting: Waiting): boolean | Promise<boolean> {
    const { reader, take } = waiting;
    if (this.isGone) return false;
    while (reader.position !== this.#end) {
      const batch = this.#kept.findLast(({ from }) => from === reader.position);
      if (batch === undefined || reader.since > batch.began || lacksSeen(batch, reader)) return false;
      const isTaken = take(batch);
      if (isTaken instanceof Promise) return isTaken.then((is) => is && this.#takesAll(waiting));
      if (!isTaken) return false;
    }
    return true;
  }

  #keep(batch: Batch): void {
    this.#end = batch.end;
    // Values may be large, and of a root key only the newest one is sent.
    if (!("resource" in this.#ref)) this.#kept.at(-1)?.rendered.clear();
    this.#kept.push(batch);
    let characters = this.#kept.reduce((sum, { length }) => sum + length, 0);
    while (this.#kept.length > maxKept || (this.#kept.length > 1 && characters > maxKeptCharacters)) {
      const dropped = this.#kept.shift();
      dropped?.rendered.clear();
      characters -= dropped?.length ?? 0;
    }
  }

  #noteHint(): void {
    this.#isHinted = true;
    this.#hint.resolve();
  }

  async #hintOrTime(): Promise<void> {
    const waiting = new AbortController();
    void this.#hint.promise.then(() => waiting.abort());
    await pauseUnlessAborted(this.#deps.timers, rereadMs, waiting.signal);
  }
}
