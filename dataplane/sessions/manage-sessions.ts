// Shows and ends the sessions that a caller may see: all of the project for Administrators, their
// own for users, none for others. A session whose user is gone or has another password is not live:
// it is `not_found`.

import type { Clock } from "../../core/clock.ts";
import type { UserConfig } from "../../core/config/types.ts";
import { isStoreFailure } from "../../core/errors/store-errors.ts";
import type { Caller } from "../authenticate/caller.ts";
import { liveValue } from "../authenticate/create-authentication.ts";
import type { EndedSessions } from "../authenticate/ended-sessions.ts";
import { authenticationRequired } from "../authenticate/refusals.ts";
import type { Directory, LiveProject } from "../config/directory.ts";
import type { SessionReads, SessionRecord, SessionWrites } from "../store/ports/sessions.ts";
import type { Observe } from "./open-session.ts";
import { sessionEndedHere, sessionNotFound } from "./refusals.ts";
import type { SessionEnd, UnfinishedWrites } from "./unfinished-writes.ts";

interface SessionManagerDeps {
  readonly directory: Directory;
  readonly store: SessionReads & Pick<SessionWrites, "endSession">;
  readonly clock: Clock;
  readonly ended: EndedSessions;
  readonly unfinished: UnfinishedWrites<SessionEnd>;
  readonly observe: Observe;
}

interface SessionView {
  readonly id: string;
  readonly user: string;
  readonly role: string;
  readonly access: string;
  /** Unix seconds. */
  readonly created: number;
  readonly last_refresh: number;
}

export interface SessionManager {
  sessions(project: LiveProject, caller: Caller): Promise<readonly SessionView[]>;
  session(project: LiveProject, caller: Caller, id: string): Promise<SessionView>;
  endSession(project: LiveProject, caller: Caller, id: string): Promise<void>;
}

type AuthenticatedCaller = Exclude<Caller, { readonly kind: "anonymous" }>;

/** Newest sessions that one list includes. */
const maxListedSessions = 10_000;

/**
 * Seconds for which an ended session is remembered at least: a setting for tokens may be lowered
 * and raised again while tokens are out. Not longer, because replicas read all of them regularly.
 */
const rememberAtLeast = 3600;

export function createSessionManager(deps: SessionManagerDeps): SessionManager {
  return {
    sessions: (project, caller) => list(deps, project, requireAuthenticated(project, caller)),
    async session(project, caller, id) {
      const found = await findSession(deps, project, requireAuthenticated(project, caller), id);
      if (found === undefined) throw sessionNotFound("see");
      return viewOf(found.record, found.user);
    },
    endSession: (project, caller, id) => end(deps, project, requireAuthenticated(project, caller), id),
  };
}

async function list(
  deps: SessionManagerDeps,
  project: LiveProject,
  caller: AuthenticatedCaller,
): Promise<readonly SessionView[]> {
  const all = caller.role === "Administrators";
  if (!all && caller.kind !== "user") return [];
  const filter = { ...(!all && caller.kind === "user" && { username: caller.name }), limit: maxListedSessions };
  const records = await deps.store.sessions(project.config, filter);
  const users = await usersOf(deps, project, records);
  return records.flatMap((record) => {
    const user = users.get(record.username);
    return user !== undefined && isLive(deps, project, { record, user }) ? [viewOf(record, user)] : [];
  });
}

async function usersOf(
  { directory }: SessionManagerDeps,
  project: LiveProject,
  records: readonly SessionRecord[],
): Promise<ReadonlyMap<string, UserConfig>> {
  const users = new Map<string, UserConfig>();
  for (const username of new Set(records.map((record) => record.username))) {
    const user = liveValue(await directory.user(project, username));
    if (user !== undefined) users.set(username, user);
  }
  return users;
}

async function end(
  deps: SessionManagerDeps,
  project: LiveProject,
  caller: AuthenticatedCaller,
  id: string,
): Promise<void> {
  const tokenLifetimeSeconds = Math.max(project.config.sessions.accessTokenSeconds, rememberAtLeast);
  // The session that a request comes with may be ended by it, whatever the store says of it.
  let mayEnd = caller.kind === "user" && caller.sessionId === id;
  try {
    const found = await findSession(deps, project, caller, id);
    if (found === undefined) throw sessionNotFound("end");
    mayEnd ||= isOwn(caller, found.record) || caller.access === "Write";
    if (!mayEnd || !(await deps.store.endSession(project.config, id, tokenLifetimeSeconds)))
      throw sessionNotFound("end");
  } catch (error) {
    if (!mayEnd || !isStoreFailure(error)) throw error;
    // Fails closed: refused here immediately, and everywhere as soon as the store takes it.
    deps.ended.add(id, tokenLifetimeSeconds);
    deps.unfinished.add({ project: project.config, id, tokenLifetimeSeconds });
    throw sessionEndedHere(error);
  }
  deps.ended.add(id, tokenLifetimeSeconds);
  deps.observe({ kind: "session_ended", project: project.config });
}

/** A live session that is the caller's own, or any for Administrators. */
async function findSession(
  deps: SessionManagerDeps,
  project: LiveProject,
  caller: AuthenticatedCaller,
  id: string,
): Promise<OfUser | undefined> {
  const record = await deps.store.session(project.config, id);
  if (record === undefined || !(caller.role === "Administrators" || isOwn(caller, record))) return undefined;
  const user = liveValue(await deps.directory.user(project, record.username));
  return user !== undefined && isLive(deps, project, { record, user }) ? { record, user } : undefined;
}

function requireAuthenticated(project: LiveProject, caller: Caller): AuthenticatedCaller {
  if (caller.kind === "anonymous") throw authenticationRequired(project.config);
  return caller;
}

function isOwn(caller: AuthenticatedCaller, record: SessionRecord): boolean {
  return caller.kind === "user" && caller.name === record.username;
}

interface OfUser {
  readonly record: SessionRecord;
  readonly user: UserConfig;
}

function isLive(
  { clock, ended, unfinished }: SessionManagerDeps,
  { config }: LiveProject,
  { record, user }: OfUser,
): boolean {
  // It belongs to a Project that had this name before, and whose sessions are still to be purged.
  if (record.projectUid !== config.uid) return false;
  if (user.credentialRevision !== record.credentialRevision) return false;
  // One whose end the store does not know is still in it, and may be ended again.
  if (ended.has(record.id) && !unfinished.has(record.id)) return false;
  return record.expires * 1000 > clock.now();
}

function viewOf(record: SessionRecord, { role, access }: UserConfig): SessionView {
  const { id, username, created, lastRefresh } = record;
  return { id, user: username, role, access, created, last_refresh: lastRefresh };
}
