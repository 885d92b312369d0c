// Follows changes behind a URL until it is aborted: connects again from the newest position, and
// reads again after a reset. docs/reference/changes.md has the protocol. Throws Problem where the
// server refuses, and what the caller's token source throws.

import { backoffMs } from "../core/backoff.ts";
import { eventStream, readEventStream } from "../core/http/event-stream.ts";
import { ServerSentEventParser } from "../core/http/server-sent-events.ts";
import { pause } from "./pause.ts";
import { Problem, unexpected } from "./problem.ts";
import { isRetryable, type Requests } from "./requests.ts";

export interface StreamedChange {
  readonly kind: "put" | "delete";
  readonly id?: string;
  readonly etag?: string;
  readonly object?: object;
  readonly value?: unknown;
}

/** What is stored, and the position behind it. */
export interface Snapshot<T> {
  readonly shown: T;
  readonly position: string | undefined;
}

export interface FollowOptions<T> {
  readonly requests: Requests;
  /** With the filters. */
  readonly path: string;
  /** Before the first stream, and after a reset. Without it a stream begins with what is stored. */
  readonly read?: () => Promise<Snapshot<T>>;
  readonly onState: (state: "live" | "reconnecting") => void;
  readonly signal: AbortSignal;
}

const firstRetryMs = 1_000;
const maxRetryMs = 30_000;

/** Ends once the signal is aborted. */
export async function* follow<T>(options: FollowOptions<T>): AsyncGenerator<StreamedChange | Snapshot<T>> {
  const { signal } = options;
  let told: string | undefined;
  const onState: typeof options.onState = (state) => {
    if (state !== told) options.onState(state);
    told = state;
  };
  const following = new Following({ ...options, onState });
  while (!signal.aborted) {
    yield* following.untilLost();
    if (signal.aborted) return;
    onState("reconnecting");
    await pause(following.retryMs(), signal).catch(() => undefined);
  }
}

class Following<T> {
  readonly #options: FollowOptions<T>;
  #parser = new ServerSentEventParser();
  /** Undefined: what is stored has to be read first. */
  #position: string | undefined;
  /** In a row, including the last one. */
  #failures = 0;
  #isOpen = false;

  constructor(options: FollowOptions<T>) {
    this.#options = options;
  }

  retryMs(): number {
    const firstMs = this.#parser.retryMs ?? firstRetryMs;
    return backoffMs({ firstMs, maxMs: maxRetryMs, jitter: 0.5 }, this.#failures);
  }

  async *untilLost(): AsyncGenerator<StreamedChange | Snapshot<T>> {
    this.#failures += 1;
    this.#isOpen = false;
    try {
      yield* this.#read();
      yield* this.#stream();
    } catch (error) {
      const isLost = this.#isOpen || (error instanceof Problem && isRetryable(error));
      if (!isLost && !this.#options.signal.aborted) throw error;
    }
  }

  async *#read(): AsyncGenerator<Snapshot<T>> {
    if (this.#position !== undefined || this.#options.read === undefined) return;
    const snapshot = await this.#options.read();
    yield snapshot;
    this.#position = snapshot.position;
  }

  async *#stream(): AsyncGenerator<StreamedChange> {
    this.#parser = new ServerSentEventParser();
    const open = (signal: AbortSignal) => this.#open(signal);
    for await (const { name, data, id } of readEventStream(open, this.#parser, this.#options.signal)) {
      if (name === "put" || name === "delete")
        yield { kind: name, ...(this.#options.requests.parseJson(data) as object) };
      // Not before it was taken.
      if (id !== undefined) this.#position = id;
      if (name === "reset") this.#position = undefined;
    }
  }

  async #open(signal: AbortSignal): Promise<ReadableStream<Uint8Array> | undefined> {
    const { requests, path, onState } = this.#options;
    const from = this.#position === undefined ? {} : { "Last-Event-ID": this.#position };
    const { status, headers, body } = await requests.open({ path, headers: { Accept: eventStream, ...from }, signal });
    if (!headers.get("Content-Type")?.startsWith(eventStream)) throw unexpected(status);
    this.#failures = 0;
    onState("live");
    this.#isOpen = true;
    return body ?? undefined;
  }
}
