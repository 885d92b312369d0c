// Turns a Basic header into a session with two tokens, and a refresh token into a new access token.
// Every wrong login gets the same 401 after the same work, whether the user exists or not.

import type { Clock } from "../../core/clock.ts";
import { keyOfProject } from "../../core/config/config-keys.ts";
import type { ProjectRef, UserConfig } from "../../core/config/types.ts";
import { Problem } from "../../core/errors/problem.ts";
import { isStoreFailure, PrimaryInDoubt, WritesRefused } from "../../core/errors/store-errors.ts";
import type { LoginAttempt, Throttle } from "../admission/login-throttle.ts";
import { liveValue } from "../authenticate/create-authentication.ts";
import type { EndedSessions } from "../authenticate/ended-sessions.ts";
import { parseAuthorization } from "../authenticate/parse-authorization.ts";
import type { TokenClaims, Tokens } from "../authenticate/tokens.ts";
import type { Directory, LiveProject } from "../config/directory.ts";
import type { SessionReads, SessionWrites } from "../store/ports/sessions.ts";
import type { PasswordVerifier } from "./passwords.ts";
import {
  invalidLogin,
  invalidRefreshToken,
  loginRequired,
  refreshTokenExpired,
  refreshTokenRequired,
  tooManySessions,
} from "./refusals.ts";
import type { SessionRefresh, UnfinishedWrites } from "./unfinished-writes.ts";

export type AuthenticationObservation =
  | {
      readonly kind: "login";
      readonly project: ProjectRef;
      /**
       * `throttled` = after too many failures. `limited` = right, but the project has its maximum
       * of sessions. `failed` = store or directory did not answer.
       */
      readonly outcome: "opened" | "refused" | "throttled" | "limited" | "busy" | "failed";
    }
  | { readonly kind: "refresh"; readonly project: ProjectRef; readonly outcome: "refreshed" | "refused" | "failed" }
  | { readonly kind: "session_ended"; readonly project: ProjectRef }
  /** A successful login still counts as a failure for a while. */
  | { readonly kind: "refund_failed"; readonly project: ProjectRef; readonly cause: unknown }
  | { readonly kind: "password_queue"; readonly running: number; readonly waiting: number };

export type Observe = (observation: AuthenticationObservation) => void;

interface OpenSessionDeps {
  readonly directory: Directory;
  readonly store: SessionReads & SessionWrites;
  readonly clock: Clock;
  readonly tokens: Tokens;
  readonly ended: EndedSessions;
  readonly throttle: Throttle;
  readonly passwords: PasswordVerifier;
  /** Refreshes that the store has not recorded yet. */
  readonly unrecorded: UnfinishedWrites<SessionRefresh>;
  readonly newId: () => string;
  readonly observe: Observe;
}

export interface LoginResult {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly session_id: string;
  readonly message: string;
}

export interface SessionOpener {
  /**
   * Exchanges a Basic header for a session. `address` is the client's, trusted proxies resolved.
   */
  login(project: LiveProject, header: string | undefined, address: string): Promise<LoginResult>;
  refresh(project: LiveProject, header: string | undefined): Promise<{ readonly access_token: string }>;
}

/**
 * How long sessions are refreshed while their store takes no writes. Sessions that were ended at
 * another replica, which could not store that, are refreshed too.
 */
const maxUnrecordedMs = 3_600_000;

type Session = Pick<TokenClaims, "sub" | "sid" | "cv">;

export function createSessionOpener(deps: OpenSessionDeps): SessionOpener {
  const { observe } = deps;
  return {
    async login(project, header, address) {
      try {
        const result = await login(deps, project, header, address);
        observe({ kind: "login", project: project.config, outcome: "opened" });
        return result;
      } catch (error) {
        observe({ kind: "login", project: project.config, outcome: loginOutcome(error) });
        throw error;
      }
    },
    async refresh(project, header) {
      try {
        const result = await refresh(deps, project, header);
        observe({ kind: "refresh", project: project.config, outcome: "refreshed" });
        return result;
      } catch (error) {
        const refused = error instanceof Problem && error.code !== "project_unavailable";
        observe({ kind: "refresh", project: project.config, outcome: refused ? "refused" : "failed" });
        throw error;
      }
    },
  };
}

function loginOutcome(error: unknown): "refused" | "throttled" | "limited" | "busy" | "failed" {
  if (!(error instanceof Problem) || error.code === "project_unavailable") return "failed";
  if (error.code === "login_throttled") return "throttled";
  if (error.code === "too_many_sessions") return "limited";
  return error.code === "login_busy" ? "busy" : "refused";
}

async function login(
  deps: OpenSessionDeps,
  project: LiveProject,
  header: string | undefined,
  address: string,
): Promise<LoginResult> {
  const credential = parseAuthorization(header);
  if (credential.kind === "absent") throw loginRequired(project.config);
  if (credential.kind !== "basic") throw invalidLogin(project.config);
  const attempt = { project: project.config, username: credential.username, address };
  deps.throttle.refuseKnown(attempt);
  const user = await deps.passwords.withPermit(keyOfProject(project.config), async (compare) => {
    // Looked up under the permit: a password that changes during the wait must not open a session.
    const named = liveValue(await deps.directory.user(project, credential.username));
    // Under the permit as well: logins in flight, which may be right, don't use up the budget.
    await deps.throttle.spend(attempt);
    const isRight = await compareOrRefund(deps, attempt, () => compare(named?.passwordHash, credential.password));
    return isRight ? named : undefined;
  });
  if (user === undefined) throw invalidLogin(project.config);
  const [result] = await Promise.all([openSession(deps, project, user), refundAttempt(deps, attempt)]);
  return result;
}

/** A comparison that threw does not count as a failed login. */
async function compareOrRefund(
  deps: OpenSessionDeps,
  attempt: LoginAttempt,
  compare: () => Promise<boolean>,
): Promise<boolean> {
  try {
    return await compare();
  } catch (error) {
    await refundAttempt(deps, attempt);
    throw error;
  }
}

/** The login succeeds, whatever becomes of its budget. */
async function refundAttempt({ throttle, observe }: OpenSessionDeps, attempt: LoginAttempt): Promise<void> {
  try {
    await throttle.refund(attempt);
  } catch (cause) {
    if (!isStoreFailure(cause)) throw cause;
    observe({ kind: "refund_failed", project: attempt.project, cause });
  }
}

async function openSession(deps: OpenSessionDeps, project: LiveProject, user: UserConfig): Promise<LoginResult> {
  const { sessions } = project.config;
  const now = unixSeconds(deps.clock);
  const session: Session = { sub: user.username, sid: deps.newId(), cv: user.credentialRevision };
  const expires = now + sessions.refreshTokenSeconds;
  // Before anything is stored: there is no session without tokens.
  const [access_token, refresh_token] = await Promise.all([
    mintAccessToken(deps, project, session),
    deps.tokens.mint(project, "refresh", { ...session, jti: deps.newId(), iat: now, exp: expires }),
  ]);
  const { sid: id, sub: username, cv: credentialRevision } = session;
  const { uid: projectUid } = project.config;
  const record = { id, projectUid, username, credentialRevision, created: now, lastRefresh: now, expires };
  if ((await deps.store.putSession(project.config, record, sessions)) === "full") throw tooManySessions(project.config);
  return { access_token, refresh_token, session_id: session.sid, message: "Successfully logged in" };
}

async function refresh(
  deps: OpenSessionDeps,
  project: LiveProject,
  header: string | undefined,
): Promise<{ readonly access_token: string }> {
  const credential = parseAuthorization(header);
  if (credential.kind === "absent") throw refreshTokenRequired(project.config);
  if (credential.kind !== "token" || !credential.mayBeOwn) throw invalidRefreshToken(project.config);
  const claims = await deps.tokens.read(project, "refresh", credential.token);
  if (claims === undefined) throw invalidRefreshToken(project.config);
  const user = liveValue(await deps.directory.user(project, claims.sub));
  if (user?.credentialRevision !== claims.cv) throw invalidRefreshToken(project.config);
  const now = unixSeconds(deps.clock);
  if (claims.exp <= now) throw refreshTokenExpired(project.config);
  // Ended here while the store took no writes: it may still be in the store.
  if (deps.ended.has(claims.sid)) throw invalidRefreshToken(project.config);
  // The signature binds session, user and revision together: the session only has to exist.
  const access_token = await mintAccessToken(deps, project, claims);
  if (!(await recordRefresh(deps, project, { id: claims.sid, lastRefresh: now }))) {
    throw invalidRefreshToken(project.config);
  }
  return { access_token };
}

/** False when the session is gone. Where the store takes no writes, it is written later. */
async function recordRefresh(
  { store, unrecorded }: OpenSessionDeps,
  { config: project }: LiveProject,
  { id, lastRefresh }: Omit<SessionRefresh, "project">,
): Promise<boolean> {
  try {
    return await store.touchSession(project, id, lastRefresh);
  } catch (error) {
    if (!(error instanceof WritesRefused) || unrecorded.unfinishedFor(project) > maxUnrecordedMs) throw error;
    // The session may have been ended at the primary of now, which is not asked here.
    if (error instanceof PrimaryInDoubt) throw error;
  }
  if ((await store.session(project, id)) === undefined) return false;
  unrecorded.add({ project, id, lastRefresh });
  return true;
}

function mintAccessToken(deps: OpenSessionDeps, project: LiveProject, { sub, sid, cv }: Session): Promise<string> {
  const now = unixSeconds(deps.clock);
  const exp = now + project.config.sessions.accessTokenSeconds;
  return deps.tokens.mint(project, "access", { sub, sid, cv, jti: deps.newId(), iat: now, exp });
}

function unixSeconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000);
}
