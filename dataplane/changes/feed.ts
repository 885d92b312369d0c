// What a replica reads of one log, for all streams that follow it: each change is read once. The
// first change is read at once, and then those of 20 ms together. A stream that is behind reads for
// itself, or with those that are where it is.

import { pause, pauseUnlessAborted, type Timers } from "../../core/timers.ts";
import type { ChangeLogs, LoggedRef, LogPosition } from "../store/ports/changes.ts";
import { type Batch, type BatchRead, type BatchStore, readBatch } from "./batch.ts";
import { isBefore } from "./positions.ts";

export interface FeedDeps {
  readonly store: BatchStore & Pick<ChangeLogs, "onChanges">;
  readonly timers: Timers;
  /** Called with failures of the store, which is asked again. */
  readonly onFailure: (failure: unknown) => void;
}

const betweenReadsMs = 20;
/** How often the log is read without a hint: hints get lost with connections. */
const rereadMs = 5_000;
const retryMs = 1_000;
/** Of batches that are kept for streams that are not at the end, but close. */
const maxKept = 64;
const maxKeptCharacters = 1024 * 1024;

export class Feed {
  readonly #deps: FeedDeps;
  readonly #ref: LoggedRef;
  readonly #ending = new AbortController();
  readonly #endHints: () => void;
  /** Reads under way that streams at one position share. */
  readonly #reads = new Map<LogPosition, Promise<BatchRead>>();
  /** The last ones, each of which begins where the one before ends. */
  #kept: Batch[] = [];
  /** Behind all that was read. */
  #end: LogPosition;
  /** Called at the next batch, or when none will come. A promise would keep all who left. */
  readonly #waiting = new Set<() => void>();
  #arrivals = 0;
  #hint = Promise.withResolvers<void>();
  #gone: Exclude<BatchRead, Batch> | undefined;

  /** `end` = the newest entry that the caller knows. */
  constructor(deps: FeedDeps, ref: LoggedRef, end: LogPosition) {
    this.#deps = deps;
    this.#ref = ref;
    this.#end = end;
    this.#endHints = deps.store.onChanges(ref, () => this.#hint.resolve());
    void this.#follow();
  }

  /**
   * The changes behind a position, once there are any. Undefined when `signal` is aborted. Throws as
   * the store does where the position is not near the end.
   */
  async next(position: LogPosition, signal: AbortSignal): Promise<BatchRead | undefined> {
    while (!signal.aborted) {
      // Taken first: one that comes while this looks would be missed.
      const arrivals = this.#arrivals;
      const known = this.#gone ?? this.#keptBehind(position) ?? (await this.#readBehind(position));
      if (known !== undefined) return known;
      if (isBefore(this.#end, position)) this.#hint.resolve();
      if (arrivals === this.#arrivals) await this.#arrival(signal);
    }
    return undefined;
  }

  /** Streams that wait for a batch. */
  get waiting(): number {
    return this.#waiting.size;
  }

  #arrival(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        this.#waiting.delete(end);
        signal.removeEventListener("abort", end);
        resolve();
      };
      this.#waiting.add(end);
      signal.addEventListener("abort", end);
    });
  }

  #keptBehind(position: LogPosition): Batch | undefined {
    return this.#kept.find(({ from, end }) => isBefore(position, end) && !isBefore(position, from));
  }

  /** Undefined at the end. */
  async #readBehind(position: LogPosition): Promise<BatchRead | undefined> {
    if (!isBefore(position, this.#end)) return undefined;
    const read = await this.read(position);
    return read.outcome === "batch" && read.end === position ? undefined : read;
  }

  /** Whether the log no longer has what was read last: who follows it has to list again. */
  get isGone(): boolean {
    return this.#gone !== undefined;
  }

  /** The changes behind a position now. */
  read(position: LogPosition): Promise<BatchRead> {
    const underWay = this.#reads.get(position);
    if (underWay !== undefined) return underWay;
    const reading = readBatch(this.#deps.store, this.#ref, position).finally(() => this.#reads.delete(position));
    this.#reads.set(position, reading);
    return reading;
  }

  close(): void {
    this.#ending.abort();
    this.#endHints();
  }

  async #follow(): Promise<void> {
    const { timers, onFailure } = this.#deps;
    const { signal } = this.#ending;
    while (!signal.aborted && this.#gone === undefined) {
      try {
        if (await this.#readOn()) await pauseUnlessAborted(timers, betweenReadsMs, signal);
        else await this.#hintOrTime();
      } catch (failure) {
        onFailure(failure);
        await pauseUnlessAborted(timers, retryMs, signal);
      }
    }
  }

  /** Whether there was something. */
  async #readOn(): Promise<boolean> {
    this.#hint = Promise.withResolvers();
    const read = await this.read(this.#end);
    if (read.outcome !== "batch") this.#gone = read;
    else if (read.end === this.#end) return false;
    else this.#keep(read);
    this.#arrivals += 1;
    for (const end of [...this.#waiting]) end();
    return true;
  }

  #keep(batch: Batch): void {
    this.#end = batch.end;
    this.#kept.push(batch);
    let characters = this.#kept.reduce((sum, { length }) => sum + length, 0);
    while (this.#kept.length > maxKept || (this.#kept.length > 1 && characters > maxKeptCharacters)) {
      const dropped = this.#kept.shift();
      dropped?.rendered.clear();
      characters -= dropped?.length ?? 0;
    }
  }

  async #hintOrTime(): Promise<void> {
    const waiting = new AbortController();
    const end = (): void => waiting.abort();
    this.#ending.signal.addEventListener("abort", end, { once: true });
    void this.#hint.promise.then(end);
    await pause(this.#deps.timers, rereadMs, waiting.signal).catch(() => undefined);
    this.#ending.signal.removeEventListener("abort", end);
  }
}
