// What the store could not be told of sessions while it took no writes, or did not say whether it did: it is tried again until the store
// knows. A replica that stops forgets it.

import type { ProjectRef } from "../../core/config/types.ts";
import { isStoreFailure } from "../../core/errors/store-errors.ts";
import { recentlyUsed } from "../../core/recently-used.ts";
import type { Timers } from "../../core/timers.ts";

interface OfSession {
  readonly project: ProjectRef;
  readonly id: string;
}

/** A session that was ended here: until the store knows, other replicas let it go on. */
export interface SessionEnd extends OfSession {
  /** Seconds for which its access tokens may be valid, from whenever the store knows of the end. */
  readonly tokensLive: number;
}

export interface SessionRefresh extends OfSession {
  /** Unix seconds. */
  readonly lastRefresh: number;
}

export interface UnfinishedWrites<Write extends OfSession> {
  /** In place of an earlier one of the same session. */
  add(write: Write): void;
  has(sessionId: string): boolean;
  /** Milliseconds since there was none, 0 while there is none. */
  unfinishedFor(): number;
  close(): void;
}

export interface UnfinishedWritesParts<Write> {
  readonly write: (write: Write) => Promise<unknown>;
  readonly timers: Timers;
  readonly monotonic: () => number;
}

const retryMs = 1_000;
/** Beyond this the oldest is forgotten: a session that was ended is refused here, and lives on in the store. */
const maxUnfinished = 10_000;

export function createUnfinishedWrites<Write extends OfSession>(
  parts: UnfinishedWritesParts<Write>,
): UnfinishedWrites<Write> {
  const { timers, monotonic } = parts;
  const writes = recentlyUsed<Write>(maxUnfinished);
  let since = 0;
  let stop: (() => void) | undefined;
  let isClosed = false;

  const tryAgainLater = (): void => {
    if (isClosed || stop !== undefined || writes.size === 0) return;
    stop = timers.after(retryMs, () => {
      void tryAll().finally(() => {
        stop = undefined;
        tryAgainLater();
      });
    });
  };

  /** One after the other, and no further than to the first that the store does not take. */
  const tryAll = async (): Promise<void> => {
    for (const write of [...writes.values()]) {
      if (isClosed || !(await isOver(write))) return;
      // Another one of the session may have come meanwhile.
      if (writes.peek(write.id) === write) writes.delete(write.id);
    }
  };

  const isOver = async (write: Write): Promise<boolean> => {
    try {
      await parts.write(write);
      return true;
    } catch (error) {
      // Anything else is a defect, which the store's own figures show; another try would end alike.
      return !isStoreFailure(error);
    }
  };

  return {
    add(write) {
      if (writes.size === 0) since = monotonic();
      writes.set(write.id, write);
      tryAgainLater();
    },
    has: (sessionId) => writes.has(sessionId),
    unfinishedFor: () => (writes.size === 0 ? 0 : monotonic() - since),
    close() {
      isClosed = true;
      stop?.();
    },
  };
}
