// Remembers the ends of sessions that were written to Redis, and writes them again to a Redis that may have lost them: a follower that was
// promoted before it had them, a server that came back with an older snapshot or without its last second. Without that, a session
// could be refreshed again as soon as nobody remembers its end. Of a Cluster each primary is looked at by itself, and gets what it is
// to keep; one that can't be written to is tried again at the next look.

import { isStoreFailure, StoreUnavailable } from "../../../core/errors/store-errors.ts";
import { createNamedTasks } from "../../../core/named-tasks.ts";
import type { Gateway } from "../../../core/redis/gateway.ts";
import type { Primary } from "../../../core/redis/primaries.ts";
import { revocations, type SessionKeys } from "./keys.ts";
import type { RevokeSession, SessionPlace, SessionScripts } from "./session-scripts.ts";

export interface WrittenEnd {
  readonly keys: SessionKeys;
  readonly place: SessionPlace;
  readonly revocation: RevokeSession;
}

export interface WrittenEnds {
  /** Has every replica know, and remembers the end unless Redis refused it: then nothing happened, and nothing may happen later. */
  revoke(end: WrittenEnd): Promise<void>;
  /** Looks, in the background, whether a primary is another one than before, and writes to it what it may lack. */
  look(): void;
  stop(): Promise<void>;
}

export interface WrittenEndsParts {
  readonly scripts: Pick<SessionScripts, "revoke" | "remove">;
  readonly gateway: Pick<Gateway, "primaries" | "primaryOf">;
  readonly monotonic: () => number;
  readonly onFailure: (failure: unknown) => void;
}

/** Beyond either, the oldest is forgotten: what Redis lost by then, it lost for good. */
const maxRemembered = 10_000;
const rememberedMs = 3_600_000;

const writtenAtOnce = 100;

/** One of the two writes of an end, each to the primary of its key. */
interface EndWrite {
  readonly key: string;
  readonly write: () => Promise<unknown>;
  /** The history of writes that has it; undefined where that isn't known. */
  in: string | undefined;
}

export function createWrittenEnds({ scripts, gateway, monotonic, onFailure }: WrittenEndsParts): WrittenEnds {
  /** Oldest first. */
  const ends = new Map<string, { readonly notedAt: number; readonly endWrites: readonly EndWrite[] }>();
  /** The history that each primary held last. */
  const histories = new Map<string, string>();
  const tasks = createNamedTasks();
  let isStopped = false;

  const forgetOld = (): void => {
    const until = monotonic() - rememberedMs;
    for (const [id, { notedAt }] of ends) {
      if (ends.size <= maxRemembered && notedAt > until) return;
      ends.delete(id);
    }
  };

  /** By the name of the primary that is to keep it. */
  const writesByPrimary = (): ReadonlyMap<string, readonly EndWrite[]> => {
    const names = new Map<string, string>();
    const found = new Map<string, EndWrite[]>();
    for (const endWrite of [...ends.values()].flatMap(({ endWrites }) => endWrites)) {
      const name = names.get(endWrite.key) ?? gateway.primaryOf(endWrite.key);
      names.set(endWrite.key, name);
      const endWrites = found.get(name) ?? [];
      found.set(name, endWrites);
      endWrites.push(endWrite);
    }
    return found;
  };

  const writeAgain = async (endWrite: EndWrite, history: string): Promise<boolean> => {
    try {
      await endWrite.write();
    } catch (failure) {
      onFailure(failure);
      // A defect would be one at the next try, too.
      if (isStoreFailure(failure)) return false;
    }
    endWrite.in = history;
    return true;
  };

  /** A few at once, and no further once none of them is taken. */
  const visit = async (primary: Primary, endWrites: readonly EndWrite[]): Promise<void> => {
    const history = await primary.history();
    if (history === undefined) return;
    histories.set(primary.name, history);
    const missing = endWrites.filter((endWrite) => endWrite.in !== history);
    for (let from = 0; from < missing.length && !isStopped; from += writtenAtOnce) {
      const batch = missing.slice(from, from + writtenAtOnce);
      const written = await Promise.all(batch.map((endWrite) => writeAgain(endWrite, history)));
      if (!written.includes(true)) return;
    }
  };

  return {
    async revoke({ keys, place, revocation }) {
      const endWrite = (key: string, write: EndWrite["write"]): EndWrite => {
        return { key, write, in: histories.get(gateway.primaryOf(key)) };
      };
      // Before it is sent: the server that acknowledges it may be given up for another one meanwhile.
      const endWrites = [
        endWrite(revocations.set, () => scripts.revoke(revocation)),
        endWrite(keys.byUser, () => scripts.remove(keys, place)),
      ];
      const remember = (): void => {
        ends.delete(place.id);
        ends.set(place.id, { notedAt: monotonic(), endWrites });
        if (ends.size > maxRemembered) forgetOld();
      };
      try {
        await scripts.revoke(revocation);
      } catch (failure) {
        if (!(failure instanceof StoreUnavailable)) remember();
        throw failure;
      }
      remember();
    },
    look() {
      forgetOld();
      const primaries = gateway.primaries();
      if (primaries.length === 0) return;
      const names = new Set(primaries.map(({ name }) => name));
      for (const name of histories.keys()) if (!names.has(name)) histories.delete(name);
      const endWrites = writesByPrimary();
      for (const primary of primaries) {
        tasks.start(primary.name, () => visit(primary, endWrites.get(primary.name) ?? []));
      }
    },
    async stop() {
      isStopped = true;
      await tasks.idle();
    },
  };
}
