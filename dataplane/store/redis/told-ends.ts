// Remembers the ends of sessions that Redis was told, and tells them again to a Redis that may have lost them: a follower that was promoted
// before it had heard of them, a server that came back with an older snapshot or without its last second. Without that, a session
// could be refreshed again as soon as nobody remembers its end. Of a Cluster each primary is looked at by itself, and is told what it is
// to keep; one that can't be told is tried again at the next look.

import { isStoreFailure, StoreUnavailable } from "../../../core/errors/store-errors.ts";
import { createLanes } from "../../../core/lanes.ts";
import type { Gateway } from "../../../core/redis/gateway.ts";
import type { Primary } from "../../../core/redis/primaries.ts";
import { revocations, type SessionKeys } from "./keys.ts";
import type { RevokeSession, SessionPlace, SessionScripts } from "./session-scripts.ts";

export interface ToldEnd {
  readonly keys: SessionKeys;
  readonly place: SessionPlace;
  readonly revocation: RevokeSession;
}

export interface ToldEnds {
  /** Tells every replica, and remembers the end unless Redis refused it: then nothing happened, and nothing may happen later. */
  revoke(end: ToldEnd): Promise<void>;
  /** Looks, in the background, whether a primary is another one than before, and tells it what it may not know. */
  look(): void;
  stop(): Promise<void>;
}

export interface ToldEndsParts {
  readonly scripts: Pick<SessionScripts, "revoke" | "remove">;
  readonly gateway: Pick<Gateway, "primaries" | "primaryOf">;
  readonly monotonic: () => number;
  readonly onFailure: (failure: unknown) => void;
}

/** Beyond either, the oldest is forgotten: what Redis lost by then, it lost for good. */
const maxRemembered = 10_000;
const rememberedMs = 3_600_000;

const toldAtOnce = 100;

/** One of the two things that are told of an end, each to the primary of its key. */
interface Telling {
  readonly key: string;
  readonly tell: () => Promise<unknown>;
  /** The history of writes that has it; undefined where that isn't known. */
  in: string | undefined;
}

export function createToldEnds({ scripts, gateway, monotonic, onFailure }: ToldEndsParts): ToldEnds {
  /** Oldest first. */
  const ends = new Map<string, { readonly notedAt: number; readonly tellings: readonly Telling[] }>();
  /** The history that each primary held last. */
  const histories = new Map<string, string>();
  const lanes = createLanes();
  let isStopped = false;

  const forgetOld = (): void => {
    const until = monotonic() - rememberedMs;
    for (const [id, { notedAt }] of ends) {
      if (ends.size <= maxRemembered && notedAt > until) return;
      ends.delete(id);
    }
  };

  /** By the name of the primary that is to keep it. */
  const tellingsByPrimary = (): ReadonlyMap<string, readonly Telling[]> => {
    const names = new Map<string, string>();
    const found = new Map<string, Telling[]>();
    for (const telling of [...ends.values()].flatMap(({ tellings }) => tellings)) {
      const name = names.get(telling.key) ?? gateway.primaryOf(telling.key);
      names.set(telling.key, name);
      const tellings = found.get(name) ?? [];
      found.set(name, tellings);
      tellings.push(telling);
    }
    return found;
  };

  const tell = async (telling: Telling, history: string): Promise<boolean> => {
    try {
      await telling.tell();
    } catch (failure) {
      onFailure(failure);
      // A defect would be one at the next try, too.
      if (isStoreFailure(failure)) return false;
    }
    telling.in = history;
    return true;
  };

  /** A few at once, and no further once none of them is taken. */
  const visit = async (primary: Primary, tellings: readonly Telling[]): Promise<void> => {
    const history = await primary.history();
    if (history === undefined) return;
    histories.set(primary.name, history);
    const missing = tellings.filter((telling) => telling.in !== history);
    for (let from = 0; from < missing.length && !isStopped; from += toldAtOnce) {
      const batch = missing.slice(from, from + toldAtOnce);
      const told = await Promise.all(batch.map((telling) => tell(telling, history)));
      if (!told.includes(true)) return;
    }
  };

  return {
    async revoke({ keys, place, revocation }) {
      const telling = (key: string, tell: Telling["tell"]): Telling => {
        return { key, tell, in: histories.get(gateway.primaryOf(key)) };
      };
      // Before it is sent: the server that acknowledges it may be given up for another one meanwhile.
      const tellings = [
        telling(revocations.set, () => scripts.revoke(revocation)),
        telling(keys.byUser, () => scripts.remove(keys, place)),
      ];
      const remember = (): void => {
        ends.delete(place.id);
        ends.set(place.id, { notedAt: monotonic(), tellings });
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
      const tellings = tellingsByPrimary();
      for (const primary of primaries) {
        lanes.start(primary.name, () => visit(primary, tellings.get(primary.name) ?? []));
      }
    },
    async stop() {
      isStopped = true;
      await lanes.idle();
    },
  };
}
