// Follows the sessions that are ended on any replica: a stream read on a connection of its own is the quick way, a sorted set
// read at the start, after each interruption and every five seconds is the sure one. Refuses with StoreUnavailable when the
// first reading fails; later failures are tried again until it is stopped.

import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../../core/clock.ts";
import type { Gateway } from "../../../core/redis/gateway.ts";
import { fieldsOf, listOf, textOf, textsOf } from "../../../core/redis/reply.ts";
import type { SessionStore } from "../port.ts";
import { revocations } from "./keys.ts";

/** Milliseconds between two readings of the sorted set; also how long the stream is waited for. */
export const rereadMilliseconds = 5_000;
const pauseAfterFailure = 250;
const membersPerRead = 5_000;
const entriesPerRead = 1_000;

export interface EndedSessionsParts {
  /** Opens a connection of its own: waiting for the stream holds it. */
  readonly open: () => Promise<Gateway>;
  readonly clock: Clock;
  /** Told of every reading that failed, and will be tried again. */
  readonly onFailure: (failure: unknown) => void;
}

type OnEnded = Parameters<SessionStore["followEndedSessions"]>[0];

export interface EndedSessions {
  readonly followEndedSessions: SessionStore["followEndedSessions"];
  /** Stops every follower that is left. */
  stop(): Promise<void>;
}

export function createEndedSessions(parts: EndedSessionsParts): EndedSessions {
  const stops = new Set<() => Promise<void>>();
  return {
    async followEndedSessions(onEnded) {
      const stop = await startFollower(parts, onEnded);
      stops.add(stop);
      return {
        async stop() {
          stops.delete(stop);
          await stop();
        },
      };
    },
    async stop() {
      await Promise.all([...stops].map((stop) => stop()));
    },
  };
}

async function startFollower(parts: EndedSessionsParts, onEnded: OnEnded): Promise<() => Promise<void>> {
  const gateway = await parts.open();
  const follower = new Follower(gateway, parts, onEnded);
  try {
    await follower.begin();
  } catch (error) {
    gateway.disconnect();
    throw error;
  }
  const running = follower.run();
  return async () => {
    follower.stop();
    // Ends the waiting read.
    gateway.disconnect();
    await running;
  };
}

class Follower {
  readonly #gateway: Gateway;
  readonly #clock: Clock;
  readonly #onFailure: (failure: unknown) => void;
  readonly #onEnded: OnEnded;
  /** Ids that were told, with the expiry of their tokens: the sorted set says them again and again. */
  readonly #told = new Map<string, number>();
  readonly #stopping = new AbortController();
  #position = "0-0";

  constructor(gateway: Gateway, { clock, onFailure }: EndedSessionsParts, onEnded: OnEnded) {
    this.#gateway = gateway;
    this.#clock = clock;
    this.#onFailure = onFailure;
    this.#onEnded = onEnded;
  }

  /** Notes the stream's end before it reads the sorted set, so that nothing can fall between the two. */
  async begin(): Promise<void> {
    const { stream } = revocations;
    const [last] = listOf(await this.#gateway.read(stream, "XREVRANGE", stream, "+", "-", "COUNT", 1));
    this.#position = last === undefined ? "0-0" : textOf(listOf(last)[0]);
    await this.#readSet();
  }

  async run(): Promise<void> {
    let interrupted = false;
    let readAt = performance.now();
    while (!this.#stopping.signal.aborted) {
      try {
        if (interrupted) await this.begin();
        else if (performance.now() - readAt >= rereadMilliseconds) await this.#readSet();
        else {
          await this.#readStream(rereadMilliseconds - (performance.now() - readAt));
          continue;
        }
        interrupted = false;
        readAt = performance.now();
      } catch (failure) {
        if (this.#stopping.signal.aborted) return;
        this.#onFailure(failure);
        // What happens meanwhile is in the sorted set.
        interrupted = true;
        await sleep(pauseAfterFailure, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
      }
    }
  }

  stop(): void {
    this.#stopping.abort();
  }

  async #readStream(milliseconds: number): Promise<void> {
    const { stream } = revocations;
    const wait = Math.max(1, Math.ceil(milliseconds));
    const args = ["COUNT", entriesPerRead, "BLOCK", wait, "STREAMS", stream, this.#position];
    const reply = await this.#gateway.read(stream, "XREAD", ...args);
    if (reply === null) return;
    for (const entry of listOf(listOf(listOf(reply)[0])[1])) {
      const [position, fields] = listOf(entry);
      const ended = fieldsOf(fields);
      this.#tell(ended.get("session") ?? "", Number(ended.get("tokens_expire")));
      this.#position = textOf(position);
    }
  }

  async #readSet(): Promise<void> {
    const now = Math.floor(this.#clock.now() / 1000);
    const { set } = revocations;
    for (let from = 0; ; from += membersPerRead) {
      const range = [`(${now}`, "+inf", "WITHSCORES", "LIMIT", from, membersPerRead];
      const found = textsOf(await this.#gateway.read(set, "ZRANGEBYSCORE", set, ...range));
      for (let at = 0; at < found.length; at += 2) this.#tell(found[at] ?? "", Number(found[at + 1]));
      if (found.length < membersPerRead * 2) break;
    }
    for (const [id, tokensExpire] of this.#told) if (tokensExpire <= now) this.#told.delete(id);
  }

  #tell(id: string, tokensExpire: number): void {
    if (this.#stopping.signal.aborted || (this.#told.get(id) ?? 0) >= tokensExpire) return;
    this.#onEnded(id, tokensExpire);
    this.#told.set(id, tokensExpire);
  }
}
