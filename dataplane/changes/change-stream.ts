// One stream of changes: an open response, which gets events until the client leaves, its access
// ends, or its time is over. It takes the next batch when the client has read the last one, so a slow
// client costs nothing but its place.

import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Clock } from "../../core/clock.ts";
import { pauseUnlessAborted, type Timers } from "../../core/timers.ts";
import type { LogPosition } from "../store/ports/changes.ts";
import {
  bookmarkText,
  type ChangeEvent,
  eventText,
  type ResetReason,
  reauthenticateText,
  resetText,
  retryText,
} from "./events.ts";
import type { Feed } from "./feed.ts";
import type { View } from "./views.ts";

export interface StreamDeps {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: () => number;
}

export interface Beginning {
  readonly feed: Feed;
  readonly view: View;
  readonly position: LogPosition;
  /** What is told first. */
  readonly events: readonly ChangeEvent[];
}

/** Load balancers close what is silent for a minute. */
const bookmarkMs = 20_000;
const maxUnreadMs = 60_000;
const retryReadMs = 1_000;
const retryMs = { min: 1_000, max: 5_000 };
/** New replicas get their share of streams when old ones end. */
const lifetimeMs = { min: 30 * 60_000, max: 60 * 60_000 };
const reauthenticateMs = 30_000;

export class ChangeStream {
  readonly #deps: StreamDeps;
  readonly #feed: Feed;
  readonly #view: View;
  readonly #response: ServerResponse;
  readonly #ending = new AbortController();
  readonly #endsAt: number;
  #position: LogPosition;
  #writtenAt: number;
  #unreadSince: number | undefined;
  #askedForCredential = false;

  constructor(deps: StreamDeps, { feed, view, position, events }: Beginning, response: ServerResponse) {
    this.#deps = deps;
    this.#feed = feed;
    this.#view = view;
    this.#position = position;
    this.#response = response;
    this.#writtenAt = deps.clock.monotonic();
    this.#endsAt = this.#writtenAt + between(deps.random, lifetimeMs);
    response.once("close", () => this.#ending.abort());
    const begin = events.length > 0 ? events.map(eventText).join("") : bookmarkText(position);
    this.#write(retryText(between(deps.random, retryMs)) + begin);
    void this.#run();
  }

  /** `expiresAt` = milliseconds of Unix time at which the credential expires. */
  tick(expiresAt: number): void {
    const { clock } = this.#deps;
    const now = clock.monotonic();
    if (this.#unreadSince !== undefined) {
      if (now - this.#unreadSince > maxUnreadMs) this.#response.destroy();
      return;
    }
    if (now >= this.#endsAt) this.end();
    else if (!this.#askedForCredential && expiresAt - clock.now() <= reauthenticateMs) {
      this.#askedForCredential = true;
      this.#write(reauthenticateText);
    } else if (now - this.#writtenAt >= bookmarkMs) this.#write(bookmarkText(this.#position));
  }

  reset(reason: ResetReason): void {
    this.#close(resetText(reason));
  }

  /** The client connects again, perhaps to another replica, and goes on. */
  end(): void {
    this.#close(retryText(between(this.#deps.random, retryMs)));
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        await this.#goOn(signal);
      } catch {
        // The store is away, which is reported where the log is read.
        await pauseUnlessAborted(this.#deps.timers, retryReadMs, signal);
      }
    }
  }

  async #goOn(signal: AbortSignal): Promise<void> {
    const read = await this.#feed.next(this.#position, signal);
    if (read === undefined) return;
    if (read.outcome !== "batch") return this.reset(read.outcome);
    const events = await this.#view.eventsOf(read, this.#position);
    if (signal.aborted) return;
    this.#position = read.end;
    if (events.length > 0) this.#write(events.map(eventText).join(""));
    if (this.#response.writableNeedDrain) await this.#drained(signal);
  }

  async #drained(signal: AbortSignal): Promise<void> {
    this.#unreadSince = this.#deps.clock.monotonic();
    await once(this.#response, "drain", { signal }).catch(() => undefined);
    this.#unreadSince = undefined;
  }

  #write(text: string): void {
    this.#writtenAt = this.#deps.clock.monotonic();
    this.#response.write(text);
  }

  #close(text: string): void {
    if (this.#ending.signal.aborted) return;
    this.#ending.abort();
    this.#response.end(text);
  }
}

function between(random: () => number, { min, max }: { readonly min: number; readonly max: number }): number {
  return Math.round(min + random() * (max - min));
}
