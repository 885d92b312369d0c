// Joins the parts of sessions: logging in, refreshing, looking at sessions and ending them.

import { randomUUID } from "node:crypto";
import { availableParallelism } from "node:os";
import type { Clock } from "../../core/clock.ts";
import type { PasswordCost } from "../../core/password/hash-password.ts";
import { systemTimers, type Timers } from "../../core/timers.ts";
import { createThrottle } from "../admission/login-throttle.ts";
import type { Authentication } from "../authenticate/create-authentication.ts";
import type { Directory } from "../config/directory.ts";
import type { Counters } from "../store/ports/limits.ts";
import type { SessionReads, SessionWrites } from "../store/ports/sessions.ts";
import { createSessionManager, type SessionManager } from "./manage-sessions.ts";
import { type AuthenticationObservation, createSessionOpener, type SessionOpener } from "./open-session.ts";
import { createPasswordVerifier, type PasswordVerifier, passwordConcurrency } from "./passwords.ts";
import { createUnfinishedWrites, type SessionEnd, type SessionRefresh } from "./unfinished-writes.ts";

/** Every method throws Problem with a code of docs/reference/errors.md. */
export type Sessions = SessionOpener & SessionManager & { close(): void };

interface SessionsDeps {
  readonly directory: Directory;
  readonly store: SessionReads & SessionWrites & Counters;
  readonly clock: Clock;
  readonly authentication: Pick<Authentication, "tokens" | "ended">;
  /** By default as many comparisons at once as leave a core free, with 64 waiting. */
  readonly passwords?: PasswordVerifier;
  /** What a login of an unknown user costs: as much as the stored hashes do. */
  readonly passwordCost?: PasswordCost;
  readonly observe?: (observation: AuthenticationObservation) => void;
  readonly timers?: Timers;
  /** Makes session and token ids; random UUIDs by default. */
  readonly newId?: () => string;
}

const defaultMaxWaiting = 64;

export async function createSessions(deps: SessionsDeps): Promise<Sessions> {
  const { directory, store, clock, observe = () => undefined, newId = randomUUID, timers = systemTimers } = deps;
  const { tokens, ended } = deps.authentication;
  const passwords =
    deps.passwords ??
    (await createPasswordVerifier({
      concurrency: passwordConcurrency(availableParallelism()),
      maxWaiting: defaultMaxWaiting,
      ...(deps.passwordCost && { cost: deps.passwordCost }),
      observe: (queue) => observe({ kind: "password_queue", ...queue }),
    }));
  const throttle = createThrottle(store, clock);
  const unfinishedOf = { primaryOf: store.sessionPrimary, timers, monotonic: clock.monotonic };
  const unrecorded = createUnfinishedWrites<SessionRefresh>({
    ...unfinishedOf,
    write: ({ project, id, lastRefresh }) => store.touchSession(project, id, lastRefresh),
  });
  const unfinished = createUnfinishedWrites<SessionEnd>({
    ...unfinishedOf,
    write: ({ project, id, tokenLifetimeSeconds }) => store.endSession(project, id, tokenLifetimeSeconds),
  });
  const opener = createSessionOpener({
    directory,
    store,
    clock,
    tokens,
    ended,
    throttle,
    passwords,
    unrecorded,
    newId,
    observe,
  });
  return {
    ...opener,
    ...createSessionManager({ directory, store, clock, ended, unfinished, observe }),
    close() {
      unfinished.close();
      unrecorded.close();
    },
  };
}
