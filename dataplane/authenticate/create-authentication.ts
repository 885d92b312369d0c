// Joins the parts of authentication: what an Authorization header proves, and the life of sessions. Cached credentials are
// judged by live configuration alone, so that they hold while the store is away.

import { randomUUID } from "node:crypto";
import { availableParallelism } from "node:os";
import type { Clock } from "../../core/clock.ts";
import type { PasswordCost } from "../../core/password/hash-password.ts";
import { systemTimers, type Timers } from "../../core/timers.ts";
import type { Directory, LiveProject } from "../config/directory.ts";
import type { CounterStore } from "../store/port.ts";
import type { SessionStore } from "../store/session-store.ts";
import type { Authentication } from "./authentication.ts";
import { anonymous, type Caller } from "./caller.ts";
import { createEndedSessions } from "./ended-sessions.ts";
import { createKeyRings, publicKeySet } from "./key-rings.ts";
import type { AuthenticationObservation } from "./observation.ts";
import { createSessionOpener } from "./open-session.ts";
import { maxAuthorizationLength, parseAuthorization } from "./parse-authorization.ts";
import { createPasswordVerifier, type PasswordVerifier, passwordConcurrency } from "./passwords.ts";
import { invalidCredentials } from "./refusals.ts";
import { createSessions } from "./sessions.ts";
import { createThrottle } from "./throttle.ts";
import { createTokens } from "./tokens.ts";
import { createUnfinishedWrites, type SessionEnd, type SessionRefresh } from "./unfinished-writes.ts";
import { createAccessTokenVerifier } from "./verify-access-token.ts";
import { createKeyVerifier } from "./verify-key.ts";

export interface AuthenticationDeps {
  readonly directory: Directory;
  readonly store: SessionStore & CounterStore;
  readonly clock: Clock;
  /** `iss` of a project's tokens: its configured path base, whatever address a request used. */
  readonly issuerOf: (project: LiveProject) => string;
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

/** Rejects with what the store says when the sessions ended so far can't be learnt. */
export async function createAuthentication(deps: AuthenticationDeps): Promise<Authentication> {
  const {
    directory,
    store,
    clock,
    issuerOf,
    observe = () => undefined,
    newId = randomUUID,
    timers = systemTimers,
  } = deps;
  const passwords =
    deps.passwords ??
    (await createPasswordVerifier({
      concurrency: passwordConcurrency(availableParallelism()),
      maxWaiting: defaultMaxWaiting,
      ...(deps.passwordCost && { cost: deps.passwordCost }),
      observe: (queue) => observe({ kind: "password_queue", ...queue }),
    }));
  const ended = createEndedSessions(clock);
  const tokens = createTokens({
    rings: createKeyRings(),
    issuerOf,
    nowSeconds: () => Math.floor(clock.now() / 1000),
  });
  const keys = createKeyVerifier(directory, clock);
  const accessTokens = createAccessTokenVerifier({ directory, clock, tokens, ended });
  const throttle = createThrottle(store, clock);
  const unfinishedOf = { keeperOf: store.sessionKeeper, timers, monotonic: clock.monotonic };
  const unnoted = createUnfinishedWrites<SessionRefresh>({
    ...unfinishedOf,
    write: ({ project, id, lastRefresh }) => store.touchSession(project, id, lastRefresh),
  });
  const unfinished = createUnfinishedWrites<SessionEnd>({
    ...unfinishedOf,
    write: ({ project, id, tokensLive }) => store.endSession(project, id, tokensLive),
  });
  const opener = createSessionOpener({
    directory,
    store,
    clock,
    tokens,
    ended,
    throttle,
    passwords,
    unnoted,
    newId,
    observe,
  });
  const following = await store.followEndedSessions((sessionId, tokensLive) => ended.add(sessionId, tokensLive));

  return {
    authenticate(project, header) {
      if (header === undefined) return anonymous;
      // Nothing is looked up by a text that is too long to be a credential: hashing it would be work already.
      if (header.length > maxAuthorizationLength) return proveCredential(project, header);
      const cached = accessTokens.cached(project, header) ?? keys.cached(project, header);
      return cached ?? proveCredential(project, header);
    },
    ...opener,
    ...createSessions({ directory, store, clock, ended, unfinished, observe }),
    jwks: (project) => publicKeySet(project.signing),
    close() {
      unfinished.close();
      unnoted.close();
      return following.stop();
    },
  };

  function proveCredential(project: LiveProject, header: string): Caller | Promise<Caller> {
    const credential = parseAuthorization(header);
    if (credential.kind === "apikey") return keys.verify(project, header, credential.key);
    if (credential.kind === "bearer") return accessTokens.verify(project, header, credential.token);
    // Where nobody needs a credential, a header of another scheme was meant for a proxy on the way.
    const meantForUs = credential.kind === "malformed" && credential.scheme !== "basic";
    if (project.config.authentication === "Disabled" && !meantForUs) return anonymous;
    throw invalidCredentials(project.config);
  }
}
