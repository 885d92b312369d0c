// Follows data that others change in Redis. A stream's entries are hints and come immediately; the
// data themselves are read at the start, every five seconds and after every interruption. No
// failure ends it once it runs.

import { pauseUnlessAborted, systemTimers } from "../timers.ts";
import type { RedisClient } from "./redis-client.ts";
import { fieldsOf, listOf, textOf } from "./reply.ts";

/** Milliseconds between two complete reads, and the time that a read of the stream blocks. */
export const rereadMilliseconds = 5_000;
const pauseAfterFailure = 250;
const entriesPerRead = 1_000;

export interface StreamFollowerOptions {
  readonly commands: RedisClient;
  /** A connection of its own: waiting for the stream holds it. It is ended with the follower. */
  readonly waiting: RedisClient;
  readonly stream: string;
  readonly rereadMs?: number | undefined;
  /**
   * `anew` at the start and after an interruption: nothing that was read before may be relied on.
   */
  readonly resync: (anew: boolean) => Promise<void>;
  /** Awaited in order. A rejection has everything read again. `writtenAt`: ms of Redis' clock. */
  readonly onHint: (fields: ReadonlyMap<string, string>, writtenAt: number) => Promise<void> | void;
  /** Called with every failure; what failed is tried again. */
  readonly onFailure?: (failure: unknown) => void;
}

export class StreamFollower {
  readonly #options: StreamFollowerOptions;
  readonly #stopping = new AbortController();
  #position = "0-0";
  #interrupted = true;
  #readAt = 0;

  constructor(options: StreamFollowerOptions) {
    this.#options = options;
  }

  /** The first read. It rejects on failure. Optional: `run` also reads first. */
  async begin(): Promise<void> {
    const { commands, stream } = this.#options;
    // The stream's end is read first, so that nothing falls between the two.
    const [last] = listOf(await commands.read(stream, "XREVRANGE", stream, "+", "-", "COUNT", 1));
    this.#position = last === undefined ? "0-0" : textOf(listOf(last)[0]);
    await this.#resync(true);
    this.#interrupted = false;
  }

  /** Runs until it is stopped. */
  async run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await this.#goOn();
      } catch (failure) {
        if (signal.aborted) return;
        this.#options.onFailure?.(failure);
        this.#interrupted = true;
        await pauseUnlessAborted(systemTimers, pauseAfterFailure, signal);
      }
    }
  }

  stop(): void {
    this.#stopping.abort();
    // Ends the waiting read.
    this.#options.waiting.disconnect();
  }

  async #goOn(): Promise<void> {
    const due = this.#readAt + (this.#options.rereadMs ?? rereadMilliseconds) - performance.now();
    if (this.#interrupted) await this.begin();
    else if (due <= 0) await this.#resync(false);
    else await this.#readStream(Math.ceil(due));
  }

  async #resync(anew: boolean): Promise<void> {
    await this.#options.resync(anew);
    this.#readAt = performance.now();
  }

  async #readStream(milliseconds: number): Promise<void> {
    const { waiting, stream, onHint } = this.#options;
    const args = ["COUNT", entriesPerRead, "BLOCK", milliseconds, "STREAMS", stream, this.#position];
    const reply = await waiting.read(stream, "XREAD", ...args);
    if (reply === null) return;
    for (const entry of listOf(listOf(listOf(reply)[0])[1])) {
      const [position, fields] = listOf(entry);
      const id = textOf(position);
      await onHint(fieldsOf(fields), Number(id.split("-")[0]));
      this.#position = id;
    }
  }
}
