// Follows the changes of what a view shows, and reads that again whenever somebody has changed it.
// After a break it goes on from the last event. Without a position, as after a reset, it first
// reads what is shown. docs/reference/changes.md has the protocol.

import { backoffMs } from "../../../core/backoff.ts";
import { eventStream, isRetryable, readEventStream } from "../../../core/http/event-stream.ts";
import { type ServerSentEvent, ServerSentEventParser } from "../../../core/http/server-sent-events.ts";

/** `reconnecting`: what is shown may be out of date. `off`: it can't be followed. */
export type LiveState = "live" | "reconnecting" | "off";

/** Of a read of what is shown. */
export interface ReadResult {
  /** Of the header Changes-Position; undefined where it can't be followed, or was refused. */
  readonly position: string | undefined;
}

/** What an event says of an object or a root key. */
export interface Change {
  readonly id?: string;
  /** Absent where it was deleted. */
  readonly etag?: string;
}

export interface FollowOptions {
  /** Relative to the project's URL. */
  readonly url: string;
  /** Rejects where the server can't be reached. */
  readonly send: (url: string, init: RequestInit) => Promise<Response>;
  /** Reads and shows what is stored now. Undefined: it couldn't, and is to be tried later. */
  readonly refetch: () => Promise<ReadResult | undefined>;
  /** Whether the view shows that version already, as after a save of the person's own. */
  readonly isCurrent: (change: Change) => boolean;
  readonly onState: (state: LiveState) => void;
  /** Called at a reset: what the caller may do may have changed. */
  readonly onReset: () => void;
  /** Resolves early where the signal is aborted. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

/** In place of a position: from now on. What is shown is read again once the stream is open. */
const fromNow = "";
const firstRetryMs = 3_000;
const maxRetryMs = 30_000;
/** Between two reads, however much changes. */
const betweenReadsMs = 1_000;

/** Resolves once the signal is aborted or changes can't be followed. */
export async function followChanges(options: FollowOptions, start: string | undefined): Promise<void> {
  await new Follower(options, start).run();
}

class Follower {
  readonly #options: FollowOptions;
  /** Undefined: what is shown has to be read first. */
  #position: string | undefined;
  #retryMs = firstRetryMs;
  /** Attempts in a row that have failed. */
  #failures = 0;
  #isOutdated = false;
  #isRefetching = false;

  constructor(options: FollowOptions, start: string | undefined) {
    this.#options = options;
    this.#position = start;
  }

  async run(): Promise<void> {
    const { signal, onState, pause } = this.#options;
    while (!signal.aborted) {
      const canGoOn = await this.#followOnce();
      if (signal.aborted) return;
      onState(canGoOn ? "reconnecting" : "off");
      if (!canGoOn) return;
      // Without jitter: the server asks each stream for another pause.
      const policy = { firstMs: this.#retryMs, maxMs: maxRetryMs, jitter: 0 };
      await pause(backoffMs(policy, this.#failures + 1), signal);
    }
  }

  /** Follows one stream to its end. False: what is shown can't be followed. */
  async #followOnce(): Promise<boolean> {
    const { signal } = this.#options;
    const canFollow = this.#position !== undefined || (await this.#findPosition());
    if (this.#position === undefined || signal.aborted) return canFollow;
    await this.#readStream(this.#position);
    if (this.#position !== undefined || signal.aborted) return true;
    // At once, because what is shown is out of date.
    const canGoOn = await this.#findPosition();
    // A page by cursor has the position of the first page, which may be the one that was reset.
    if (this.#position !== undefined) this.#position = fromNow;
    return canGoOn;
  }

  /** False: there is none, and will be none. */
  async #findPosition(): Promise<boolean> {
    const result = await this.#options.refetch();
    if (result === undefined) this.#failures += 1;
    this.#position = result?.position;
    return result === undefined || result.position !== undefined;
  }

  async #readStream(position: string): Promise<void> {
    const parser = new ServerSentEventParser();
    this.#failures += 1;
    try {
      const events = readEventStream((signal) => this.#open(position, signal), parser, this.#options.signal);
      for await (const event of events) {
        this.#take(event);
        if (this.#position === undefined) return;
      }
    } catch {
      // The connection is lost: it goes on behind the newest event.
    } finally {
      this.#retryMs = parser.retryMs ?? this.#retryMs;
    }
  }

  async #open(position: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array> | undefined> {
    const { url, send, onState } = this.#options;
    const headers = { Accept: eventStream, ...(position !== fromNow && { "Last-Event-ID": position }) };
    const { ok, status, headers: answered, body } = await send(url, { headers, cache: "no-store", signal });
    if (ok && answered.get("Content-Type")?.startsWith(eventStream) && body !== null) {
      this.#failures = 0;
      onState("live");
      if (position === fromNow) this.#outdate();
      return body;
    }
    if (!isRetryable(status)) this.#position = undefined;
    return undefined;
  }

  #take({ name, data, id }: ServerSentEvent): void {
    if (name === "put" || name === "delete") this.#change(JSON.parse(data) as Change);
    if (name === "reset") {
      this.#position = undefined;
      this.#options.onReset();
    }
    if (id) this.#position = id;
  }

  #change(change: Change): void {
    if (!this.#options.isCurrent(change)) this.#outdate();
  }

  #outdate(): void {
    this.#isOutdated = true;
    if (!this.#isRefetching) void this.#refetch();
  }

  async #refetch(): Promise<void> {
    const { refetch, pause, signal } = this.#options;
    this.#isRefetching = true;
    while (this.#isOutdated && !signal.aborted) {
      this.#isOutdated = false;
      if ((await refetch()) === undefined) this.#isOutdated = true;
      await pause(betweenReadsMs, signal);
    }
    this.#isRefetching = false;
  }
}
