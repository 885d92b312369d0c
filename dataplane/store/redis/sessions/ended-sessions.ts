// Follows the sessions that end on any replica: a stream read on a connection of its own is fast,
// and a sorted set read at the start, after each interruption and every five seconds is complete.
// Times are Redis'. Refuses with StoreUnavailable when the first read fails; later failures are
// tried again until it is stopped.

import type { RedisClient } from "../../../../core/redis/redis-client.ts";
import { textsOf } from "../../../../core/redis/reply.ts";
import { StreamFollower } from "../../../../core/redis/stream-follower.ts";
import type { EndedSessionFeed } from "../../ports/sessions.ts";
import { revocations } from "../keys.ts";

const membersPerRead = 5_000;

export interface EndedSessionsDeps {
  /** Opens a connection of its own: waiting for the stream holds it. */
  readonly open: () => Promise<RedisClient>;
  /** Called with every reading that failed, and will be tried again. */
  readonly onFailure: (failure: unknown) => void;
  /** Called before each reading of the sorted set, which waits for nothing that it begins. */
  readonly beforeReading: () => void;
  /** How often the sorted set is read, 5,000 by default. */
  readonly rereadMs?: number | undefined;
}

type OnEnded = Parameters<EndedSessionFeed["followEndedSessions"]>[0];

export interface FollowedSessions extends EndedSessionFeed {
  /** Stops every follower that is left. */
  stop(): Promise<void>;
}

export function createEndedSessions(deps: EndedSessionsDeps): FollowedSessions {
  const stops = new Set<() => Promise<void>>();
  return {
    async followEndedSessions(onEnded) {
      const stop = await startFollower(deps, onEnded);
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

async function startFollower(deps: EndedSessionsDeps, onEnded: OnEnded): Promise<() => Promise<void>> {
  const { open, onFailure, beforeReading, rereadMs } = deps;
  const redisClient = await open();
  const reported = new ReportedSessions(redisClient, onEnded);
  const follower = new StreamFollower({
    commands: redisClient,
    waiting: redisClient,
    stream: revocations.stream,
    rereadMs,
    async resync() {
      beforeReading();
      await reported.readSet();
    },
    onHint(ended, writtenAt) {
      const tokensExpire = Number(ended.get("tokens_expire"));
      reported.report(ended.get("session") ?? "", { tokensExpire, now: Math.floor(writtenAt / 1_000) });
    },
    onFailure,
  });
  try {
    await follower.begin();
  } catch (error) {
    redisClient.disconnect();
    throw error;
  }
  const running = follower.run();
  return async () => {
    reported.end();
    follower.stop();
    await running;
  };
}

/** Reports each ended session once, although the sorted set repeats it. */
class ReportedSessions {
  readonly #redisClient: RedisClient;
  readonly #onEnded: OnEnded;
  /** Ids with the expiry of their tokens, in Unix seconds of Redis. */
  readonly #reported = new Map<string, number>();
  #isOver = false;

  constructor(redisClient: RedisClient, onEnded: OnEnded) {
    this.#redisClient = redisClient;
    this.#onEnded = onEnded;
  }

  end(): void {
    this.#isOver = true;
  }

  async readSet(): Promise<void> {
    const { set } = revocations;
    const now = Number(textsOf(await this.#redisClient.read(set, "TIME"))[0]);
    let lower = `(${now}`;
    // How many of the lower bound's own members were read and are skipped: Redis walks over what it
    // skips, so skipping all would take quadratic time.
    let skipped = 0;
    for (;;) {
      const range = [lower, "+inf", "WITHSCORES", "LIMIT", skipped, membersPerRead];
      const found = textsOf(await this.#redisClient.read(set, "ZRANGEBYSCORE", set, ...range));
      for (let at = 0; at < found.length; at += 2) {
        this.report(found[at] ?? "", { tokensExpire: Number(found[at + 1]), now });
      }
      if (found.length < membersPerRead * 2) break;
      const last = found.at(-1) ?? "";
      const ties = found.filter((text, at) => at % 2 === 1 && text === last).length;
      skipped = last === lower ? skipped + ties : ties;
      lower = last;
    }
    for (const [id, tokensExpire] of this.#reported) if (tokensExpire <= now) this.#reported.delete(id);
  }

  /** Both in Unix seconds of Redis. */
  report(id: string, { tokensExpire, now }: { readonly tokensExpire: number; readonly now: number }): void {
    if (this.#isOver || (this.#reported.get(id) ?? 0) >= tokensExpire) return;
    this.#onEnded(id, tokensExpire - now);
    this.#reported.set(id, tokensExpire);
  }
}
