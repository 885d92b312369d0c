// Sessions in Redis: one hash per session that expires by itself, and sorted sets to list them by.
// Ending one is announced to every replica first, and then removes it, so that after a crash in
// between it can be ended again.

import type { Clock } from "../../../../core/clock.ts";
import type { RedisClient } from "../../../../core/redis/redis-client.ts";
import type { SessionPurges } from "../../ports/purges.ts";
import type { SessionReads, SessionRecord, SessionWrites } from "../../ports/sessions.ts";
import { type SessionKeys, separator, sessionKeys } from "../keys.ts";
import { laterStep } from "../store-script.ts";
import type { SessionRevocations } from "./session-revocations.ts";
import type { SessionEntry, SessionScripts } from "./session-scripts.ts";

/** Seconds for which a revocation outlives its tokens: what clocks of replicas may differ by. */
const grace = 60;

type Sessions = SessionReads & SessionWrites & SessionPurges;

export interface SessionsDeps {
  readonly scripts: SessionScripts;
  readonly redisClient: Pick<RedisClient, "primaryOf">;
  readonly clock: Clock;
  readonly sessionRevocations: SessionRevocations;
}

export function createSessions({ scripts, redisClient, clock, sessionRevocations }: SessionsDeps): Sessions {
  const now = () => Math.floor(clock.now() / 1000);

  /** The session unless it has expired: Redis' clock may be behind ours. */
  const live = async (keys: SessionKeys, id: string): Promise<SessionRecord | undefined> => {
    const session = await scripts.read(keys, id);
    return session !== undefined && session.expires > now() ? session : undefined;
  };

  return {
    async putSession(project, session, bounds) {
      const millisecondsToLive = Math.round(session.expires * 1000 - clock.now());
      if (millisecondsToLive <= 0) return "stored";
      const { sortable } = entryOf(session);
      return scripts.put({ keys: sessionKeys(project), session, sortable, millisecondsToLive, bounds });
    },
    session: (project, id) => live(sessionKeys(project), id),
    touchSession: (project, id, lastRefresh) => scripts.touch(sessionKeys(project), id, { lastRefresh, now: now() }),
    async endSession(project, id, seconds) {
      const keys = sessionKeys(project);
      const session = await live(keys, id);
      if (session === undefined) return false;
      const latest = Math.max(session.created, session.lastRefresh);
      const entry = entryOf(session);
      await sessionRevocations.revoke({ keys, entry, revocation: { id, seconds, latest, grace } });
      return laterStep(scripts.remove(keys, entry));
    },
    async sessions(project, { username, limit }) {
      const keys = sessionKeys(project);
      const set = username === undefined ? keys.byCreation : keys.byUser;
      const sessions: SessionRecord[] = [];
      let bounds: Bounds | undefined = boundsOf(username);
      while (bounds !== undefined && sessions.length < limit) {
        const found = await scripts.list({ keys, set, ...bounds, limit: limit - sessions.length, now: now() });
        sessions.push(...found.sessions);
        bounds = found.upper === undefined ? undefined : { lower: bounds.lower, upper: found.upper };
      }
      return sessions;
    },
    sessionPrimary: (project) => redisClient.primaryOf(sessionKeys(project).byUser),
    purgeSessions: (project, projectUid, cursor) => scripts.purge({ keys: sessionKeys(project), projectUid, cursor }),
  };
}

interface Bounds {
  readonly lower: string;
  readonly upper: string;
}

function boundsOf(username: string | undefined): Bounds {
  if (username === undefined) return { lower: "-", upper: "+" };
  return { lower: `[${username}${separator}`, upper: `(${username}\u0001` };
}

function entryOf({ id, username, created }: SessionRecord): SessionEntry {
  return { id, username, sortable: String(created).padStart(12, "0") };
}
