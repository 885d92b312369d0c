// One stream of changes: an open response. It gets events until the client leaves, its access ends,
// or the stream is too old. It takes a batch only once the client has read the one before, so a
// slow client keeps nothing in memory.

import type { ServerResponse } from "node:http";
import type { Clock } from "../../core/clock.ts";
import { Problem } from "../../core/errors/problem.ts";
import { isStoreFailure } from "../../core/errors/store-errors.ts";
import { pauseUnlessAborted, type Timers } from "../../core/timers.ts";
import type { LogPosition } from "../store/ports/changes.ts";
import { type Batch, type BatchRead, lacksSeen } from "./batch.ts";
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
import { mostBytes, type Release } from "./unread-room.ts";
import type { View } from "./views.ts";

export interface StreamDeps {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: () => number;
  /** Called with failures to read. After one of the store the stream reads again; others end it. */
  readonly onFailure: (failure: unknown) => void;
  /** Runs work when the project may compute. Rejects where too much waits. */
  readonly fairly: <T>(work: () => T) => T | Promise<T>;
  /** Reads when the project has a slot. Rejects where too much waits. */
  readonly inSlot: (read: () => Promise<BatchRead>) => Promise<BatchRead>;
  /** Waits until the client may leave so much unread. */
  readonly takeRoom: (bytes: number, signal: AbortSignal) => Promise<Release>;
  /** Whether streams of the project wait for room. */
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

/** As the client is sent them. */
export function positionsOf(subscriptions: readonly Subscription[]): string {
  return positionsText(subscriptions.map(({ position, seen }) => ({ start: position, seen: laterOf(position, seen) })));
}

/** Called once the events of the batch were taken. */
export function moveBehind(subscription: Subscription, batch: Batch): void {
  subscription.position = batch.end;
  subscription.seen = laterOf(subscription.seen, subscription.view.seenIn(batch));
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
/** Characters of a batch that needs room; a smaller one needs none. */
const largeBatch = 64 * 1024;
const retryReadMs = 1_000;
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
  /** Resolves once the sources that came first have sent their batches. */
  #turn: Promise<void> = Promise.resolve();
  #releaseRoom: Release = () => undefined;
  #draining: PromiseWithResolvers<void> | undefined;
  #askedForCredential = false;

  constructor(deps: StreamDeps, { subscriptions, events }: Beginning, response: ServerResponse) {
    this.#deps = deps;
    this.#subscriptions = subscriptions;
    this.#response = response;
    this.#writtenAt = deps.clock.monotonic();
    this.#endsAt = this.#writtenAt + lifetimeMs.min + deps.random() * (lifetimeMs.max - lifetimeMs.min);
    response.once("close", () => this.#ending.abort());
    response.on("drain", () => this.#onDrained());
    this.#ending.signal.addEventListener("abort", () => this.#onDrained());
    const id = this.#id();
    this.#write(retryText(deps.random));
    for (const piece of events.length > 0 ? eventPieces(events, () => id) : [bookmarkText(id)]) this.#write(piece);
    for (const subscription of subscriptions) void this.#follow(subscription);
  }

  /** `expiresAt` = milliseconds of Unix time at which the credential expires. */
  tick(expiresAt: number): void {
    const { clock } = this.#deps;
    const now = clock.monotonic();
    // Nobody reads it: it gets no bookmark, and is closed after a while.
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
    this.#close(retryText(this.#deps.random));
  }

  async #follow(subscription: Subscription): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        await this.#sendNext(subscription, signal);
      } catch (failure) {
        // A Problem says that the project has to wait.
        const isBusy = failure instanceof Problem;
        if (!isBusy) this.#deps.onFailure(failure);
        if (!isBusy && !isStoreFailure(failure)) return this.end();
        await pauseUnlessAborted(this.#deps.timers, retryReadMs, signal);
      }
    }
  }

  async #sendNext(subscription: Subscription, signal: AbortSignal): Promise<void> {
    // A client that reads nothing keeps no batch in memory.
    await this.#drained();
    const { feed } = subscription;
    if (feed.isBehind(subscription) && (await this.#inTurn(() => this.#catchUp(subscription, signal)))) return;
    const read = await feed.next(subscription, signal, (batch) => this.#take(subscription, batch));
    if (read !== undefined && this.#isWhole(read, subscription)) {
      await this.#inTurn(() => this.#send(subscription, read, signal));
    }
  }

  /** What most streams are sent: a small batch, once all before was read. */
  #take(subscription: Subscription, batch: Batch): boolean | Promise<boolean> {
    const pieces = batch.length < largeBatch ? this.#sharedPieces(subscription, batch) : undefined;
    if (pieces === undefined) return false;
    const write = (pieces: Pieces): boolean => {
      if (this.#ending.signal.aborted || this.#response.writableNeedDrain) return false;
      this.#writeAll(pieces);
      moveBehind(subscription, batch);
      return true;
    };
    return pieces instanceof Promise ? pieces.then(write, () => false) : write(pieces);
  }

  /** Resets the stream where something is lost. */
  #isWhole(read: BatchRead, subscription: Subscription): read is Batch {
    const isBatch = read.outcome === "batch";
    if (isBatch && !lacksSeen(read, subscription)) return true;
    this.reset(isBatch ? "lost" : read.outcome);
    return false;
  }

  /**
   * Reads a batch for this stream alone: there may be many of them, so there has to be room for it
   * before. False where there was nothing.
   */
  async #catchUp(subscription: Subscription, signal: AbortSignal): Promise<boolean> {
    await this.#drained();
    const release = await this.#deps.takeRoom(mostBytes, signal);
    try {
      if (signal.aborted) return true;
      const { feed, position, since } = subscription;
      const read = await this.#deps.inSlot(() => feed.read(position, since));
      if (!this.#isWhole(read, subscription)) return true;
      if (read.end === position) return false;
      if (!subscription.view.reads) release(read.length);
      await this.#send(subscription, read, signal, release);
      return true;
    } finally {
      // What is unread keeps it.
      if (this.#releaseRoom !== release) release();
    }
  }

  /** One source after the other: otherwise each would leave a batch unread. */
  #inTurn<T>(send: () => Promise<T>): Promise<T> {
    const sent = this.#turn.then(send);
    this.#turn = sent.then(
      () => undefined,
      () => undefined,
    );
    return sent;
  }

  /** `room` = what was taken for the batch. */
  async #send(subscription: Subscription, batch: Batch, signal: AbortSignal, room?: Release): Promise<void> {
    await this.#drained();
    const { reads } = subscription.view;
    const largest = reads && batch.changes.length > 0 ? mostBytes : batch.length;
    if (room !== undefined) this.#releaseRoom = room;
    else if (largest >= largeBatch) this.#releaseRoom = await this.#deps.takeRoom(largest, signal);
    try {
      const pieces = signal.aborted ? [] : await this.#piecesOf(subscription, batch);
      if (signal.aborted) return;
      if (reads) this.#releaseRoom(lengthOf(pieces));
      this.#writeAll(pieces);
      moveBehind(subscription, batch);
    } finally {
      if (signal.aborted || !this.#response.writableNeedDrain) this.#releaseRoom();
    }
  }

  async #piecesOf(subscription: Subscription, batch: Batch): Promise<Pieces> {
    const shared = this.#sharedPieces(subscription, batch);
    return await (shared ?? this.#deps.fairly(() => this.#ownPieces(subscription, batch)));
  }

  /**
   * Most streams have one source and are where the batch begins: they share its bytes. Undefined
   * for others.
   */
  #sharedPieces(subscription: Subscription, batch: Batch): Pieces | Promise<Pieces> | undefined {
    const { position, seen, view } = subscription;
    const { encoded, isEncoded } = view;
    const isAlike = this.#subscriptions.length === 1 && position === batch.from && !isBefore(batch.seen, seen);
    if (!isAlike || encoded === undefined) return undefined;
    return isEncoded?.(batch) ? encoded(batch) : this.#deps.fairly(() => encoded(batch));
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

  /** Resolves once the client has read what was written, or the stream ends. */
  #drained(): Promise<void> | undefined {
    if (this.#ending.signal.aborted || !this.#response.writableNeedDrain) return undefined;
    this.#draining ??= Promise.withResolvers();
    return this.#draining.promise;
  }

  #onDrained(): void {
    this.#unreadSince = undefined;
    this.#releaseRoom();
    this.#draining?.resolve();
    this.#draining = undefined;
  }

  #writeAll(pieces: Pieces): void {
    if (pieces.length > 1) this.#response.cork();
    for (const piece of pieces) this.#write(piece);
    if (pieces.length > 1) this.#response.uncork();
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

function lengthOf(pieces: Pieces): number {
  return pieces.reduce((sum, { length }) => sum + length, 0);
}
