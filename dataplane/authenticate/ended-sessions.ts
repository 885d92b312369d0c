// Remembers sessions that ended on any replica, as long as one of their access tokens could be
// valid. So no request asks the store whether its session still exists. The monotonic clock counts
// the time: a clock that is set back would let ended sessions in.

import type { Clock } from "../../core/clock.ts";

export interface EndedSessions {
  /** `tokenLifetimeSeconds`: seconds for which an access token of it may be valid. */
  add(sessionId: string, tokenLifetimeSeconds: number): void;
  has(sessionId: string): boolean;
}

/** Milliseconds between two removals of expired entries. */
const pruneEvery = 60_000;
/** A replica whose clock is ahead may have made tokens that live on for longer. */
const rememberAtLeast = 3_600_000;

export function createEndedSessions(clock: Pick<Clock, "monotonic">): EndedSessions {
  /** By when they may be forgotten, in milliseconds of the monotonic clock. */
  const forgettable = new Map<string, number>();
  let prunedAt = clock.monotonic();

  const prune = (now: number): void => {
    prunedAt = now;
    for (const [id, at] of forgettable) if (at <= now) forgettable.delete(id);
  };

  return {
    add(sessionId, tokenLifetimeSeconds) {
      const now = clock.monotonic();
      const at = now + Math.max(tokenLifetimeSeconds * 1000, rememberAtLeast);
      forgettable.set(sessionId, Math.max(at, forgettable.get(sessionId) ?? 0));
      if (now - prunedAt >= pruneEvery) prune(now);
    },
    has: (sessionId) => forgettable.has(sessionId),
  };
}
