// One stream of changes: an open response, which gets events until the client leaves, its access
// ends, or its time is over. It takes the next batch when the client has read the last one, so a
// slow client costs nothing but its place.

import { once } from "node:events";
import type { ServerResponse } from "node:http";
import type { Clock } from "../../core/clock.ts";
import { isStoreFailure } from "../../core/errors/store-errors.ts";
import { pauseUnlessAborted, type Timers } from "../../core/timers.ts";
import type { LogPosition } from "../store/ports/changes.ts";
import { type Batch, lacksSeen } from "./batch.ts";
import {
  bookmarkText,
  type ChangeEvent,
  eventText,
  type ResetReason,
  reauthenticateText,
  resetText,
  retryText,
} from "./events.ts";
import type { Feed, Reader } from "./feed.ts";
import { isBefore, laterOf, positionsText } from "./positions.ts";
import type { View } from "./views.ts";

export interface StreamDeps {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: () => number;
  /** Called with failures to read: the store's are tried again, others end the stream. */
  readonly onFailure: (failure: unknown) => void;
}

/** One log that a stream follows, and from where. */
export interface Track extends Reader {
  readonly feed: Feed;
  readonly view: View;
  position: LogPosition;
  seen: LogPosition;
  since: number;
}

/** For the client. */
export function positionsOf(tracks: readonly Track[]): string {
  return positionsText(tracks.map(({ position, seen }) => ({ start: position, seen: laterOf(position, seen) })));
}

/** Once its events were taken. */
export function moveBehind(track: Track, batch: Batch): void {
  track.position = batch.end;
  track.seen = laterOf(laterOf(track.seen, batch.end), track.view.seenIn(batch));
  track.since = batch.ended;
}

export interface Beginning {
  readonly tracks: readonly Track[];
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
  readonly #tracks: readonly Track[];
  readonly #response: ServerResponse;
  readonly #ending = new AbortController();
  readonly #endsAt: number;
  #writtenAt: number;
  #unreadSince: number | undefined;
  /** While the client has not read what was written. */
  #drained: Promise<void> | undefined;
  #askedForCredential = false;

  constructor(deps: StreamDeps, { tracks, events }: Beginning, response: ServerResponse) {
    this.#deps = deps;
    this.#tracks = tracks;
    this.#response = response;
    this.#writtenAt = deps.clock.monotonic();
    this.#endsAt = this.#writtenAt + between(deps.random, lifetimeMs);
    response.once("close", () => this.#ending.abort());
    const id = this.#id();
    const begin = events.length > 0 ? events.map((event) => eventText(event, id)).join("") : bookmarkText(id);
    this.#write(retryText(between(deps.random, retryMs)) + begin);
    for (const track of tracks) void this.#follow(track);
  }

  /** `expiresAt` = milliseconds of Unix time at which the credential expires. */
  tick(expiresAt: number): void {
    const { clock } = this.#deps;
    const now = clock.monotonic();
    if (this.#unreadSince !== undefined) {
      if (now - this.#unreadSince > maxUnreadMs) this.#response.destroy();
      return;
    }
    // It has ended, and waits for a client that reads on.
    if (this.#response.writableEnded) return;
    if (now >= this.#endsAt) this.end();
    else if (!this.#askedForCredential && expiresAt - clock.now() <= reauthenticateMs) {
      this.#askedForCredential = true;
      this.#write(reauthenticateText);
    } else if (now - this.#writtenAt >= bookmarkMs) this.#write(bookmarkText(this.#id()));
  }

  reset(reason: ResetReason): void {
    this.#close(resetText(reason));
  }

  /** The client connects again, perhaps to another replica, and goes on. */
  end(): void {
    this.#close(retryText(between(this.#deps.random, retryMs)));
  }

  async #follow(track: Track): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        await this.#goOn(track, signal);
      } catch (failure) {
        this.#deps.onFailure(failure);
        if (!isStoreFailure(failure)) return this.end();
        await pauseUnlessAborted(this.#deps.timers, retryReadMs, signal);
      }
    }
  }

  async #goOn(track: Track, signal: AbortSignal): Promise<void> {
    const read = await track.feed.next(track, signal);
    if (read === undefined) return;
    if (read.outcome !== "batch") return this.reset(read.outcome);
    if (lacksSeen(read, track)) return this.reset("lost");
    const bytes = this.#sharedBytes(track, read) ?? (await this.#ownText(track, read));
    if (signal.aborted) return;
    this.#write(bytes);
    moveBehind(track, read);
    if (this.#response.writableNeedDrain) await this.#awaitDrain(signal);
  }

  /** Where the stream is at the batch's beginning and has no other source, as most are. */
  #sharedBytes({ view, position, seen }: Track, batch: Batch): Buffer | undefined {
    const isAlike = this.#tracks.length === 1 && position === batch.from && !isBefore(batch.seen, seen);
    return isAlike ? view.encoded?.(batch) : undefined;
  }

  async #ownText(track: Track, batch: Batch): Promise<string> {
    const events = await track.view.eventsOf(batch, track.position);
    track.seen = laterOf(track.seen, track.view.seenIn(batch));
    return events.map((event) => this.#eventText(event, track)).join("");
  }

  #eventText(event: ChangeEvent, track: Track): string {
    track.position = event.position;
    return eventText(event, this.#id());
  }

  #id(): string {
    return positionsOf(this.#tracks);
  }

  async #awaitDrain(signal: AbortSignal): Promise<void> {
    this.#unreadSince ??= this.#deps.clock.monotonic();
    this.#drained ??= once(this.#response, "drain", { signal }).then(
      () => undefined,
      () => undefined,
    );
    await this.#drained;
    if (signal.aborted) return;
    this.#drained = undefined;
    this.#unreadSince = undefined;
  }

  #write(bytes: string | Buffer): void {
    if (bytes.length === 0) return;
    this.#writtenAt = this.#deps.clock.monotonic();
    this.#response.write(bytes);
  }

  #close(text: string): void {
    if (this.#ending.signal.aborted) return;
    this.#ending.abort();
    this.#unreadSince = this.#response.writableNeedDrain ? this.#deps.clock.monotonic() : undefined;
    this.#response.end(text);
  }
}

function between(random: () => number, { min, max }: { readonly min: number; readonly max: number }): number {
  return Math.round(min + random() * (max - min));
}
