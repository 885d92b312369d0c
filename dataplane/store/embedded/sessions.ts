// Sessions in two tables: live sessions, and those that ended while their tokens may be valid. One
// process has the database, so followers are called directly; sessions that ended earlier are read
// from the table.

import type { DatabaseSync } from "node:sqlite";
import type { Clock } from "../../../core/clock.ts";
import type { ProjectRef, SessionBounds } from "../../../core/config/types.ts";
import type { SessionPurges } from "../ports/purges.ts";
import type { EndedSessionFeed, SessionReads, SessionRecord, SessionWrites } from "../ports/sessions.ts";
import type { Transactions } from "./transactions.ts";

type Follower = Parameters<EndedSessionFeed["followEndedSessions"]>[0];

/** Expired rows are removed a few at a time, with each login: no timer is needed. */
const sweptPerWrite = 20;
/** A user with more sessions than allowed loses a few of the oldest ones with each login. */
const endedPerWrite = 20;
const compared = 1_000;

const purgedPerCall = 200;

const columns =
  "id, project_uid AS projectUid, username, credential_revision AS credentialRevision, created, last_refresh AS lastRefresh, expires";

export function createSessions(
  database: DatabaseSync,
  transactions: Transactions,
  clock: Clock,
): SessionReads & SessionWrites & SessionPurges & EndedSessionFeed {
  const statements = prepare(database);
  const followers = new Set<Follower>();
  const seconds = () => Math.floor(clock.now() / 1_000);

  function putSession(project: ProjectRef, session: SessionRecord, bounds: SessionBounds): "stored" | "full" {
    const { namespace, name } = project;
    const { id, projectUid, username, credentialRevision, created, lastRefresh, expires } = session;
    const now = seconds();
    // It would end another one of the user for nothing.
    if (expires <= now) return "stored";
    statements.sweep.run(now, sweptPerWrite);
    if (countOf(statements.count.get(namespace, name, now, bounds.maxPerProject)) >= bounds.maxPerProject)
      return "full";
    const ofUser = countOf(statements.countOfUser.get(namespace, name, username, now));
    const surplus = Math.min(ofUser + 1 - bounds.maxPerUser, endedPerWrite);
    if (surplus > 0) statements.endLeastRecent.run(namespace, name, namespace, name, username, now, compared, surplus);
    statements.put.run(namespace, name, id, username, credentialRevision, created, lastRefresh, expires, projectUid);
    return "stored";
  }

  /** For how long its tokens may live; undefined when there is no such session. */
  function endSession({ namespace, name }: ProjectRef, id: string, tokenLifetimeSeconds: number): number | undefined {
    const now = seconds();
    const session = asRecord(statements.get.get(namespace, name, id, now));
    if (session === undefined) return undefined;
    statements.delete.run(namespace, name, id, now);
    statements.sweepEnded.run(now, sweptPerWrite);
    // The clock may have been ahead when the latest of them was made.
    const live = tokenLifetimeSeconds + Math.max(0, session.created - now, session.lastRefresh - now);
    statements.end.run(id, now + live);
    return live;
  }

  return {
    putSession: (project, session, bounds) => transactions.write(() => putSession(project, session, bounds)),

    session: ({ namespace, name }, id) =>
      transactions.read(() => asRecord(statements.get.get(namespace, name, id, seconds()))),

    touchSession: ({ namespace, name }, id, lastRefresh) =>
      transactions.write(() => {
        return statements.touch.run(lastRefresh, namespace, name, id, seconds()).changes === 1;
      }),

    async endSession(project, id, tokenLifetimeSeconds) {
      const live = await transactions.write(() => endSession(project, id, tokenLifetimeSeconds));
      if (live === undefined) return false;
      for (const follower of [...followers]) follower(id, live);
      return true;
    },

    sessions: ({ namespace, name }, { username, limit }) =>
      transactions.read(() => {
        const now = seconds();
        const rows =
          username === undefined
            ? statements.list.all(namespace, name, now, limit)
            : statements.listOfUser.all(namespace, name, username, now, limit);
        return rows.map((row) => row as unknown as SessionRecord).map((row) => ({ ...row }));
      }),

    sessionPrimary: () => "",

    purgeSessions: ({ namespace, name }, projectUid) =>
      transactions.write(() => {
        const { changes } = statements.purge.run(namespace, name, namespace, name, projectUid, purgedPerCall);
        return changes < purgedPerCall ? undefined : "";
      }),

    followEndedSessions: (onEnded) =>
      transactions.read(() => {
        // Each call its own member of the set, also when one function follows twice.
        const follower: Follower = (id, tokenLifetimeSeconds) => onEnded(id, tokenLifetimeSeconds);
        followers.add(follower);
        const now = seconds();
        for (const row of statements.ended.all(now)) follower(String(row.id), Number(row.tokens_expire) - now);
        return {
          async stop() {
            followers.delete(follower);
          },
        };
      }),
  };
}

function prepare(database: DatabaseSync) {
  const inProject = "namespace = ? AND project = ?";
  return {
    put: database.prepare("INSERT OR REPLACE INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"),
    get: database.prepare(`SELECT ${columns} FROM sessions WHERE ${inProject} AND id = ? AND expires > ?`),
    touch: database.prepare(
      `UPDATE sessions SET last_refresh = MAX(last_refresh, ?) WHERE ${inProject} AND id = ? AND expires > ?`,
    ),
    delete: database.prepare(`DELETE FROM sessions WHERE ${inProject} AND id = ? AND expires > ?`),
    list: database.prepare(
      `SELECT ${columns} FROM sessions WHERE ${inProject} AND expires > ? ORDER BY created DESC, id DESC LIMIT ?`,
    ),
    listOfUser: database.prepare(
      `SELECT ${columns} FROM sessions WHERE ${inProject} AND username = ? AND expires > ? ORDER BY created DESC, id DESC LIMIT ?`,
    ),
    count: database.prepare(
      `SELECT COUNT(*) AS count FROM (SELECT 1 FROM sessions WHERE ${inProject} AND expires > ? LIMIT ?)`,
    ),
    countOfUser: database.prepare(
      `SELECT COUNT(*) AS count FROM sessions WHERE ${inProject} AND username = ? AND expires > ?`,
    ),
    endLeastRecent: database.prepare(
      `DELETE FROM sessions WHERE ${inProject} AND id IN (SELECT id FROM
        (SELECT id, created, last_refresh FROM sessions WHERE ${inProject} AND username = ? AND expires > ?
          ORDER BY created, id LIMIT ?)
        ORDER BY last_refresh, created, id LIMIT ?)`,
    ),
    sweep: database.prepare(
      `DELETE FROM sessions WHERE (namespace, project, id) IN
        (SELECT namespace, project, id FROM sessions WHERE expires <= ? LIMIT ?)`,
    ),
    purge: database.prepare(
      `DELETE FROM sessions WHERE ${inProject} AND id IN
        (SELECT id FROM sessions WHERE ${inProject} AND project_uid = ? LIMIT ?)`,
    ),
    end: database.prepare("INSERT OR REPLACE INTO ended_sessions VALUES (?, ?)"),
    ended: database.prepare("SELECT id, tokens_expire FROM ended_sessions WHERE tokens_expire > ?"),
    sweepEnded: database.prepare(
      "DELETE FROM ended_sessions WHERE id IN (SELECT id FROM ended_sessions WHERE tokens_expire <= ? LIMIT ?)",
    ),
  };
}

function countOf(row: unknown): number {
  return (row as { readonly count: number }).count;
}

/** Rows have no prototype; callers get a plain object. */
function asRecord(row: unknown): SessionRecord | undefined {
  return row === undefined ? undefined : { ...(row as SessionRecord) };
}
