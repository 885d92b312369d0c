// Subscriptions to channels over one connection, which is opened for the first of them. A lost
// connection is opened again, as long as it takes: what was published meanwhile is lost, so each
// subscriber is called back then.

import type { Redis } from "ioredis";
import { Backoff } from "../backoff.ts";
import { StoreUnavailable } from "../errors/store-errors.ts";
import { pauseUnlessAborted, systemTimers } from "../timers.ts";
import { reconnects } from "./connect.ts";

export interface Subscriber {
  /**
   * Calls back after each message, and whenever some may have been missed. `call` must not throw.
   * Returns how to end.
   */
  subscribe(channel: string, call: () => void): () => void;
  close(): Promise<void>;
}

export interface SubscriberDeps {
  /** A connection of its own that isn't opened yet, and doesn't come back by itself. */
  readonly open: () => Redis;
  /** Called whenever the connection ended, or could not be made; it is tried again. */
  readonly onFailure: (failure: unknown) => void;
}

/** A server that went silent without closing the connection is found by asking it. */
const pingMilliseconds = 5_000;

export function createSubscriber({ open, onFailure }: SubscriberDeps): Subscriber {
  const calls = new Map<string, Set<() => void>>();
  const stopping = new AbortController();
  let connection: Redis | undefined;
  let running: Promise<void> | undefined;

  const callBack = (channel: string): void => {
    for (const call of [...(calls.get(channel) ?? [])]) call();
  };

  const listen = async (redis: Redis, channels: readonly string[]): Promise<void> => {
    if (channels.length > 0) await redis.subscribe(...channels);
    for (const channel of channels) callBack(channel);
  };

  /** Then everything begins anew, which is reported. */
  const endOnFailure = (redis: Redis, sent: Promise<unknown>): void => void sent.catch(() => redis.disconnect());

  /** Returns when the connection ended. */
  const runOnce = async (onListening: () => void): Promise<void> => {
    const redis = open();
    // Without a listener ioredis prints; what fails says so itself.
    redis.on("error", () => undefined);
    redis.on("message", callBack);
    const ended = new AbortController();
    redis.once("end", () => ended.abort());
    const end = (): void => redis.disconnect();
    stopping.signal.addEventListener("abort", end);
    try {
      await redis.connect();
      connection = redis;
      await listen(redis, [...calls.keys()]);
      onListening();
      while (await pauseUnlessAborted(systemTimers, pingMilliseconds, ended.signal)) await redis.ping();
    } finally {
      connection = undefined;
      stopping.signal.removeEventListener("abort", end);
      redis.disconnect();
    }
  };

  const run = async (): Promise<void> => {
    const { signal } = stopping;
    const backoff = new Backoff(reconnects);
    while (!signal.aborted) {
      let failure: unknown;
      await runOnce(() => backoff.reset()).catch((error: unknown) => {
        failure = error;
      });
      if (signal.aborted) return;
      onFailure(new StoreUnavailable("The connection for subscriptions ended", { cause: failure }));
      await pauseUnlessAborted(systemTimers, backoff.next(), signal);
    }
  };

  const remove = (channel: string, call: () => void): void => {
    const left = calls.get(channel);
    left?.delete(call);
    if (left === undefined || left.size > 0) return;
    calls.delete(channel);
    if (connection !== undefined) endOnFailure(connection, connection.unsubscribe(channel));
  };

  return {
    subscribe(channel, call) {
      // Each call ends by itself, even if two are the same function.
      const own = (): void => call();
      const known = calls.get(channel);
      calls.set(channel, (known ?? new Set()).add(own));
      if (known === undefined && connection !== undefined) endOnFailure(connection, listen(connection, [channel]));
      if (!stopping.signal.aborted) running ??= run();
      return () => remove(channel, own);
    },
    async close() {
      stopping.abort();
      await running;
    },
  };
}
