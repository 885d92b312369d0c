// Live sessions, and those that ended, which all replicas are told. port.ts says what a call may
// throw.

import type { ProjectRef, SessionBounds } from "../../../core/config/types.ts";

export interface SessionRecord {
  readonly id: string;
  /**
   * UID of the Project that it was opened in: one that is made again under its name has another.
   */
  readonly projectUid: string;
  readonly username: string;
  readonly credentialRevision: string;
  /** Unix seconds. */
  readonly created: number;
  readonly lastRefresh: number;
  /** When its refresh token expires; then the session is removed by itself. */
  readonly expires: number;
}

export interface SessionReads {
  session(project: ProjectRef, id: string): Promise<SessionRecord | undefined>;
  /** Live sessions, newest first, at most `limit`. */
  sessions(
    project: ProjectRef,
    filter: { readonly username?: string; readonly limit: number },
  ): Promise<readonly SessionRecord[]>;
}

export interface SessionWrites {
  /**
   * If its user has too many, a few of those refreshed least recently, then of the oldest, are
   * removed. Their access tokens stay valid.
   */
  putSession(project: ProjectRef, session: SessionRecord, bounds: SessionBounds): Promise<"stored" | "full">;
  /**
   * Stores when it was refreshed, unless a later time is stored. False when the session is gone.
   */
  touchSession(project: ProjectRef, id: string, lastRefresh: number): Promise<boolean>;
  /**
   * Removes a session and announces to every replica that its access tokens are void, which may be
   * valid for `tokenLifetimeSeconds` from now: a duration, because the caller's clock may jump.
   * Longer where the clock was ahead at its login or last refresh.
   */
  endSession(project: ProjectRef, id: string, tokenLifetimeSeconds: number): Promise<boolean>;
  /** Names the primary of the project's sessions: writes to one are refused, or fail, together. */
  sessionPrimary(project: ProjectRef): string;
}

export interface EndedSessionFeed {
  /**
   * Calls back for every session that ends anywhere, and for ended ones whose tokens could be
   * valid, with the seconds for which they may be.
   */
  followEndedSessions(
    onEnded: (sessionId: string, tokenLifetimeSeconds: number) => void,
  ): Promise<{ stop(): Promise<void> }>;
}
