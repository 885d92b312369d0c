// The store of authentication tests: the embedded one, in memory, and a switch in front of it that
// takes it away.

import { onTestFinished } from "vitest";
import type { Clock } from "../../../core/clock.ts";
import { OutcomeUnknown, StoreUnavailable, WritesRefused } from "../../../core/errors/store-errors.ts";
import { createEmbeddedStore } from "../../../dataplane/store/embedded/embedded-store.ts";
import type { Counters } from "../../../dataplane/store/ports/limits.ts";
import type { SessionPurges } from "../../../dataplane/store/ports/purges.ts";
import type { EndedSessionFeed, SessionReads, SessionWrites } from "../../../dataplane/store/ports/sessions.ts";

export type SessionsAndCounters = SessionReads & SessionWrites & SessionPurges & EndedSessionFeed & Counters;

/** Closed with the test that asks for it. */
export async function sessionStore(clock: Clock): Promise<SessionsAndCounters> {
  const store = await createEmbeddedStore({ directory: ":memory:", clock });
  onTestFinished(() => store.close());
  return store;
}

export type Fault = "none" | "unavailable" | "unknown" | "refused";

const faults = { unavailable: StoreUnavailable, unknown: OutcomeUnknown, refused: WritesRefused } as const;

export interface BreakableStore {
  readonly store: SessionsAndCounters;
  /**
   * From now on every call, or only those named, is refused as a store that can't be reached would,
   * before it does anything.
   */
  breakWith(fault: Fault, ...calls: readonly (keyof SessionsAndCounters)[]): void;
  /** Calls made, by name. */
  readonly calls: ReadonlyMap<string, number>;
}

/** Puts faults and a count of calls in front of a store. */
export function breakable(inner: SessionsAndCounters): BreakableStore {
  let fault: Fault = "none";
  let broken: readonly string[] = [];
  const calls = new Map<string, number>();
  const guard = <A extends readonly unknown[], R>(
    name: keyof SessionsAndCounters,
    call: (...args: A) => Promise<R>,
  ) => {
    return async (...args: A): Promise<R> => {
      calls.set(name, (calls.get(name) ?? 0) + 1);
      if (fault !== "none" && (broken.length === 0 || broken.includes(name))) {
        throw new faults[fault]("The test says so");
      }
      return await call(...args);
    };
  };
  return {
    calls,
    breakWith(next, ...names) {
      fault = next;
      broken = names;
    },
    store: {
      putSession: guard("putSession", inner.putSession),
      session: guard("session", inner.session),
      touchSession: guard("touchSession", inner.touchSession),
      endSession: guard("endSession", inner.endSession),
      sessions: guard("sessions", inner.sessions),
      purgeSessions: guard("purgeSessions", inner.purgeSessions),
      sessionPrimary: inner.sessionPrimary,
      followEndedSessions: guard("followEndedSessions", inner.followEndedSessions),
      spend: guard("spend", inner.spend),
      refund: guard("refund", inner.refund),
    },
  };
}
