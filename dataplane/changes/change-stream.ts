// One stream of changes: an open response, which gets events until the client leaves, its access
// ends, or its time is over. It takes the next batch when the client has read the last one, so a
// slow client costs nothing but its place.

import type { ServerResponse } from "node:http";
import type { Clock } from "../../core/clock.ts";
import { Problem } from "../../core/errors/problem.ts";
import { isStoreFailure } from "../../core/errors/store-errors.ts";
import { pauseUnlessAborted, type Timers } from "../../core/timers.ts";
import type { LogPosition } from "../store/ports/changes.ts";
import { type Batch, lacksSeen } from "./batch.ts";
import {
  bookmarkText,
  type ChangeEvent,
  eventPieces,
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
  /** Runs work when the project may compute. Rejects where too much waits. */
  readonly fairly: <T>(work: () => T) => T | Promise<T>;
  /** Waits until so much may be left unread. Returns how to give that back. */
  readonly takeRoom: (bytes: number, signal: AbortSignal) => Promise<() => void>;
  /** Whether other streams wait for that. */
  readonly isRoomShort: () => boolean;
}

type Pieces = readonly (string | Buffer)[];

/** One log that a stream follows, and from where. */
export interface Subscription extends Reader {
  readonly feed: Feed;
  readonly view: View;
  position: LogPosition;
  seen: LogPosition;
  since: number;
}

/** For the client. */
export function positionsOf(subscriptions: readonly Subscription[]): string {
  return positionsText(subscriptions.map(({ position, seen }) => ({ start: position, seen: laterOf(position, seen) })));
}

/** Once its events were taken. */
export function moveBehind(subscription: Subscription, batch: Batch): void {
  subscription.position = batch.end;
  subscription.seen = laterOf(laterOf(subscription.seen, batch.end), subscription.view.seenIn(batch));
  subscription.since = batch.ended;
}

export interface Beginning {
  readonly subscriptions: readonly Subscription[];
  /** What is sent first. */
  readonly events: readonly ChangeEvent[];
}

/** Load balancers close what is silent for a minute. */
const bookmarkMs = 20_000;
const maxUnreadMs = 60_000;
const maxUnreadMsWhileShort = 2_000;
/** Of a batch: less needs no room. */
const largeBatch = 64 * 1024;
const retryReadMs = 1_000;
const retryMs = { min: 1_000, max: 5_000 };
/** New replicas get their share of streams when old ones end. */
const lifetimeMs = { min: 30 * 60_000, max: 60 * 60_000 };
const reauthenticateMs = 30_000;

export class ChangeStream {
  readonly #deps: StreamDeps;
  readonly #subscriptions: readonly Subscription[];
  readonly #response: ServerResponse;
  readonly #ending = new AbortController();
  readonly #endsAt: number;
  #writtenAt: number;
  #unreadSince: number | undefined;
  /** Of the sources: when the last one of them has sent its batch. */
  #turn: Promise<void> = Promise.resolve();
  #releaseRoom: () => void = () => undefined;
  #draining: PromiseWithResolvers<void> | undefined;
  #askedForCredential = false;

  constructor(deps: StreamDeps, { subscriptions, events }: Beginning, response: ServerResponse) {
    this.#deps = deps;
    this.#subscriptions = subscriptions;
    this.#response = response;
    this.#writtenAt = deps.clock.monotonic();
    this.#endsAt = this.#writtenAt + between(deps.random, lifetimeMs);
    response.once("close", () => this.#ending.abort());
    response.on("drain", () => this.#goOnWriting());
    this.#ending.signal.addEventListener("abort", () => this.#goOnWriting());
    const id = this.#id();
    this.#write(retryText(between(deps.random, retryMs)));
    for (const piece of events.length > 0 ? eventPieces(events, () => id) : [bookmarkText(id)]) this.#write(piece);
    for (const subscription of subscriptions) void this.#follow(subscription);
  }

  /** `expiresAt` = milliseconds of Unix time at which the credential expires. */
  tick(expiresAt: number): void {
    const { clock } = this.#deps;
    const now = clock.monotonic();
    // What was written first counts as well: bookmarks would keep the connection open.
    if (this.#response.writableNeedDrain) {
      this.#unreadSince ??= now;
      const patience = this.#deps.isRoomShort() ? maxUnreadMsWhileShort : maxUnreadMs;
      if (now - this.#unreadSince > patience) this.#response.destroy();
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

  async #follow(subscription: Subscription): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        await this.#goOn(subscription, signal);
      } catch (failure) {
        // A Problem says that the project has to wait.
        const isBusy = failure instanceof Problem;
        if (!isBusy) this.#deps.onFailure(failure);
        if (!isBusy && !isStoreFailure(failure)) return this.end();
        await pauseUnlessAborted(this.#deps.timers, retryReadMs, signal);
      }
    }
  }

  async #goOn(subscription: Subscription, signal: AbortSignal): Promise<void> {
    // So that one who reads nothing keeps no batch.
    await this.#drained();
    const read = await subscription.feed.next(subscription, signal);
    if (read === undefined) return;
    if (read.outcome !== "batch") return this.reset(read.outcome);
    if (lacksSeen(read, subscription)) return this.reset("lost");
    await this.#inTurn(() => this.#send(subscription, read, signal));
  }

  /** One source after the other: each would write a batch that is not read. */
  #inTurn(send: () => Promise<void>): Promise<void> {
    const sent = this.#turn.then(send);
    this.#turn = sent.catch(() => undefined);
    return sent;
  }

  async #send(subscription: Subscription, batch: Batch, signal: AbortSignal): Promise<void> {
    await this.#drained();
    if (batch.length >= largeBatch) this.#releaseRoom = await this.#deps.takeRoom(batch.length, signal);
    try {
      const pieces = signal.aborted ? [] : await this.#piecesOf(subscription, batch);
      if (signal.aborted) return;
      if (pieces.length > 1) this.#response.cork();
      for (const piece of pieces) this.#write(piece);
      if (pieces.length > 1) this.#response.uncork();
      moveBehind(subscription, batch);
    } finally {
      if (signal.aborted || !this.#response.writableNeedDrain) this.#releaseRoom();
    }
  }

  /** Shared where the stream is at the batch's beginning and has no other source, as most are. */
  async #piecesOf(subscription: Subscription, batch: Batch): Promise<Pieces> {
    const { view, position, seen } = subscription;
    const { fairly } = this.#deps;
    const isAlike = this.#subscriptions.length === 1 && position === batch.from && !isBefore(batch.seen, seen);
    if (!isAlike || view.encoded === undefined) return await fairly(() => this.#ownPieces(subscription, batch));
    const encoded = (): Pieces => view.encoded?.(batch) ?? [];
    return view.isEncoded?.(batch) ? encoded() : await fairly(encoded);
  }

  async #ownPieces(subscription: Subscription, batch: Batch): Promise<Pieces> {
    const events = await subscription.view.eventsOf(batch, subscription.position);
    subscription.seen = laterOf(subscription.seen, subscription.view.seenIn(batch));
    return eventPieces(events, ({ position }) => {
      subscription.position = position;
      return this.#id();
    });
  }

  #id(): string {
    return positionsOf(this.#subscriptions);
  }

  /** Once the client has read what was written, or the stream ends. */
  #drained(): Promise<void> | undefined {
    if (this.#ending.signal.aborted || !this.#response.writableNeedDrain) return undefined;
    this.#draining ??= Promise.withResolvers();
    return this.#draining.promise;
  }

  #goOnWriting(): void {
    this.#unreadSince = undefined;
    this.#releaseRoom();
    this.#draining?.resolve();
    this.#draining = undefined;
  }

  #write(bytes: string | Buffer): void {
    if (bytes.length === 0) return;
    this.#writtenAt = this.#deps.clock.monotonic();
    this.#response.write(bytes);
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
