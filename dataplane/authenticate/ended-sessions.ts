// Remembers which sessions were ended, on any replica, for as long as one of their access tokens could still be valid, so
// that a request needs no store to learn that its token is void.

import type { Clock } from "../../core/clock.ts";

export interface EndedSessions {
  add(sessionId: string, tokensExpire: number): void;
  has(sessionId: string): boolean;
}

/** Milliseconds between two looks for entries whose tokens have expired. */
const pruneEvery = 60_000;

export function createEndedSessions(clock: Clock): EndedSessions {
  const ended = new Map<string, number>();
  let prunedAt = clock.now();

  const prune = (now: number): void => {
    prunedAt = now;
    for (const [id, tokensExpire] of ended) if (tokensExpire * 1000 <= now) ended.delete(id);
  };

  return {
    add(sessionId, tokensExpire) {
      ended.set(sessionId, Math.max(tokensExpire, ended.get(sessionId) ?? 0));
      const now = clock.now();
      if (now - prunedAt >= pruneEvery) prune(now);
    },
    has: (sessionId) => ended.has(sessionId),
  };
}
