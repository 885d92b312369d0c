// Follows the changes of what a view shows: reads it again whenever somebody has changed it, and
// opens the stream again behind the position that was reached. A reset, and whatever else leaves no
// position to go on from, is followed by a reading, which brings one. docs/reference/changes.md has
// the protocol.

import { type ServerSentEvent, ServerSentEventParser } from "../../../core/http/server-sent-events.ts";

/** `reconnecting`: what is shown may be out of date. `off`: the server doesn't tell changes. */
export type LiveState = "live" | "reconnecting" | "off";

/** What the server answered to a reading of what is shown. */
export interface Reading {
  /** `Changes-Position`; undefined where changes can't be followed, or it was refused. */
  readonly position: string | undefined;
}

/** Of an object or a root key. */
export interface Change {
  readonly id?: string;
  /** Absent: nothing is there any more. */
  readonly etag?: string;
}

export interface FollowOptions {
  /** Relative to the project's URL. */
  readonly url: string;
  /** Rejects where the server can't be reached. */
  readonly send: (url: string, init: RequestInit) => Promise<Response>;
  /** Reads again what is shown. Undefined: not now, but later it may be read. */
  readonly readAgain: () => Promise<Reading | undefined>;
  /** Whether it is shown already, as what the person has stored is. */
  readonly isShown: (change: Change) => boolean;
  readonly onState: (state: LiveState) => void;
  /** What the caller may do may have changed, too. */
  readonly onReset: () => void;
  /** Resolves early where the signal is aborted. */
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly signal: AbortSignal;
}

const eventStream = "text/event-stream";
/** A server sends a bookmark every 20 seconds. */
const maxSilenceMs = 60_000;
const firstRetryMs = 3_000;
const maxRetryMs = 30_000;
/** However much changes, what is shown is read again at most so often. */
const rereadMs = 1_000;
/** Refusals after which the same request may succeed, besides 5xx. */
const passing: ReadonlySet<number> = new Set([408, 425, 429]);

/** Resolves once the signal is aborted or changes can't be followed. */
export async function followChanges(options: FollowOptions, start: string | undefined): Promise<void> {
  await new Follower(options, start).run();
}

class Follower {
  readonly #options: FollowOptions;
  /** From where to go on; undefined: what is shown has to be read again first. */
  #position: string | undefined;
  #retryMs = firstRetryMs;
  /** Attempts in a row that have failed. */
  #failures = 0;
  #isOutdated = false;
  #isRereading = false;

  constructor(options: FollowOptions, start: string | undefined) {
    this.#options = options;
    this.#position = start;
  }

  async run(): Promise<void> {
    const { signal, onState, pause } = this.#options;
    for (;;) {
      const state = await this.#goOn();
      if (signal.aborted) return;
      onState(state);
      if (state === "off") return;
      await pause(Math.min(this.#retryMs * 2 ** this.#failures, maxRetryMs), signal);
    }
  }

  /** Until the stream has ended, or couldn't be opened. */
  async #goOn(): Promise<"reconnecting" | "off"> {
    const { signal } = this.#options;
    const state = this.#position === undefined ? await this.#readPosition() : "reconnecting";
    if (this.#position === undefined || signal.aborted) return state;
    await this.#readStream(this.#position);
    return this.#position === undefined && !signal.aborted ? await this.#readPosition() : "reconnecting";
  }

  async #readPosition(): Promise<"reconnecting" | "off"> {
    const reading = await this.#options.readAgain();
    if (reading === undefined) this.#failures += 1;
    this.#position = reading?.position;
    return reading !== undefined && reading.position === undefined ? "off" : "reconnecting";
  }

  async #readStream(position: string): Promise<void> {
    const silence = new AbortController();
    const alarm = new Alarm(() => silence.abort(), maxSilenceMs);
    this.#failures += 1;
    try {
      const response = await this.#options.send(this.#options.url, {
        headers: { Accept: eventStream, "Last-Event-ID": position },
        cache: "no-store",
        signal: AbortSignal.any([this.#options.signal, silence.signal]),
      });
      const { status, body } = response;
      const isStream = response.headers.get("Content-Type")?.startsWith(eventStream) === true;
      if (response.ok && isStream && body !== null) await this.#readEvents(body.getReader(), alarm);
      else if (status < 500 && !passing.has(status)) this.#position = undefined;
    } catch {
      // The connection is lost: it goes on behind the newest event.
    } finally {
      alarm.stop();
      silence.abort();
    }
  }

  async #readEvents(reader: ReadableStreamDefaultReader<Uint8Array>, alarm: Alarm): Promise<void> {
    const parser = new ServerSentEventParser();
    this.#failures = 0;
    this.#options.onState("live");
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      alarm.restart();
      const events = parser.push(read.value);
      this.#retryMs = parser.retryMs ?? this.#retryMs;
      this.#position = parser.lastEventId || this.#position;
      for (const event of events) this.#take(event);
      if (this.#position === undefined) return;
    }
  }

  #take({ name, data }: ServerSentEvent): void {
    if (name === "put" || name === "delete") this.#change(JSON.parse(data) as Change);
    if (name !== "reset") return;
    this.#position = undefined;
    this.#options.onReset();
  }

  #change(change: Change): void {
    if (this.#options.isShown(change)) return;
    this.#isOutdated = true;
    if (!this.#isRereading) void this.#reread();
  }

  async #reread(): Promise<void> {
    const { readAgain, pause, signal } = this.#options;
    this.#isRereading = true;
    while (this.#isOutdated && !signal.aborted) {
      this.#isOutdated = false;
      if ((await readAgain()) === undefined) this.#isOutdated = true;
      await pause(rereadMs, signal);
    }
    this.#isRereading = false;
  }
}

/** Calls once nothing has restarted it for so long. */
class Alarm {
  readonly #call: () => void;
  readonly #milliseconds: number;
  #timer: ReturnType<typeof setTimeout>;

  constructor(call: () => void, milliseconds: number) {
    this.#call = call;
    this.#milliseconds = milliseconds;
    this.#timer = setTimeout(call, milliseconds);
  }

  restart(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#call, this.#milliseconds);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
