// Sessions that were ended here while the store took no writes, or did not say whether it did: their end is tried again until the store
// knows of it, so that no other replica lets them go on for longer than that. A replica that stops forgets them.

import type { ProjectRef } from "../../core/config/types.ts";
import { isStoreFailure } from "../../core/errors/store-errors.ts";
import { recentlyUsed } from "../../core/recently-used.ts";
import type { Timers } from "../../core/timers.ts";
import type { SessionStore } from "../store/session-store.ts";

export interface SessionEnd {
  readonly project: ProjectRef;
  readonly id: string;
  /** Seconds for which its access tokens may be valid, from whenever the store knows of the end. */
  readonly tokensLive: number;
}

export interface UnfinishedEnds {
  add(end: SessionEnd): void;
  has(sessionId: string): boolean;
  close(): void;
}

const retryMs = 1_000;
/** Beyond this the oldest is forgotten: its tokens are refused here, and its session lives on in the store. */
const maxUnfinished = 10_000;

export function createUnfinishedEnds(store: Pick<SessionStore, "endSession">, timers: Timers): UnfinishedEnds {
  const ends = recentlyUsed<SessionEnd>(maxUnfinished);
  let stop: (() => void) | undefined;
  let isClosed = false;

  const tryAgainLater = (): void => {
    if (isClosed || stop !== undefined || ends.size === 0) return;
    stop = timers.after(retryMs, () => {
      void tryAll().finally(() => {
        stop = undefined;
        tryAgainLater();
      });
    });
  };

  /** One after the other, and no further than to the first that the store does not take. */
  const tryAll = async (): Promise<void> => {
    for (const end of [...ends.values()]) {
      if (isClosed) return;
      try {
        await store.endSession(end.project, end.id, end.tokensLive);
      } catch (error) {
        if (isStoreFailure(error)) return;
        // A defect, which the store's own figures show; another try would end alike.
      }
      ends.delete(end.id);
    }
  };

  return {
    add(end) {
      ends.set(end.id, end);
      tryAgainLater();
    },
    has: (sessionId) => ends.has(sessionId),
    close() {
      isClosed = true;
      stop?.();
    },
  };
}
