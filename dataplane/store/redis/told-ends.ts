// Remembers the ends of sessions that Redis was told, and tells them again to a Redis that may have lost them: a follower that was promoted
// before it had heard of them, a server that came back with an older snapshot or without its last second. Without that, a session
// could be refreshed again as soon as nobody remembers its end. One that can't be told is tried again at the next look.

import { isStoreFailure } from "../../../core/errors/store-errors.ts";
import type { SessionKeys } from "./keys.ts";
import type { RevokeSession, SessionPlace, SessionScripts } from "./session-scripts.ts";

export interface ToldEnd {
  readonly keys: SessionKeys;
  readonly place: SessionPlace;
  readonly revocation: RevokeSession;
}

export interface ToldEnds {
  note(end: ToldEnd): void;
  /** Looks whether Redis is another one than before; what is to be told then is told in the background. Never rejects. */
  look(): Promise<void>;
  stop(): Promise<void>;
}

export interface ToldEndsParts {
  readonly scripts: Pick<SessionScripts, "revoke" | "remove">;
  readonly histories: () => Promise<readonly string[]>;
  readonly monotonic: () => number;
  readonly onFailure: (failure: unknown) => void;
}

/** Beyond either, the oldest is forgotten: what Redis lost by then, it lost for good. */
const maxRemembered = 10_000;
const rememberedMs = 3_600_000;

const toldAtOnce = 100;

export function createToldEnds({ scripts, histories, monotonic, onFailure }: ToldEndsParts): ToldEnds {
  /** Oldest first. */
  const ends = new Map<string, ToldEnd & { readonly notedAt: number }>();
  /** Those that Redis may not know. */
  const doubtful = new Set<string>();
  let known: ReadonlySet<string> = new Set();
  let telling: Promise<void> | undefined;
  let isStopped = false;

  const forgetOld = (): void => {
    const until = monotonic() - rememberedMs;
    for (const [id, { notedAt }] of ends) {
      if (ends.size <= maxRemembered && notedAt > until) return;
      ends.delete(id);
    }
  };

  const tell = async (id: string): Promise<boolean> => {
    const end = ends.get(id);
    try {
      if (end !== undefined) {
        await scripts.revoke(end.revocation);
        await scripts.remove(end.keys, end.place);
      }
    } catch (failure) {
      onFailure(failure);
      // A defect would be one at the next try, too.
      if (isStoreFailure(failure)) return false;
    }
    doubtful.delete(id);
    return true;
  };

  /** A few at once, and no further once none of them is taken; where one node of a Cluster is away, the others are told. */
  const tellDoubtful = async (): Promise<void> => {
    const ids = [...doubtful];
    for (let from = 0; from < ids.length && !isStopped; from += toldAtOnce) {
      const told = await Promise.all(ids.slice(from, from + toldAtOnce).map(tell));
      if (!told.includes(true)) return;
    }
  };

  return {
    note(end) {
      ends.delete(end.place.id);
      ends.set(end.place.id, { ...end, notedAt: monotonic() });
      if (ends.size > maxRemembered) forgetOld();
    },
    async look() {
      const found = await histories();
      if (found.length === 0) return;
      forgetOld();
      if (found.some((history) => !known.has(history))) for (const id of ends.keys()) doubtful.add(id);
      // One that doesn't answer may come back as it was.
      known = new Set([...found, ...(found.length < known.size ? known : [])]);
      telling ??= tellDoubtful().finally(() => {
        telling = undefined;
      });
    },
    async stop() {
      isStopped = true;
      await telling;
    },
  };
}
