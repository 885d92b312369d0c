// Typed wrappers of the scripts of sessions: only they know the positions of keys and arguments.

import type { SessionBounds } from "../../../../core/config/types.ts";
import type { RedisClient } from "../../../../core/redis/redis-client.ts";
import { fieldsOf, listOf, textOf } from "../../../../core/redis/reply.ts";
import type { SessionRecord } from "../../ports/sessions.ts";
import { revocations, type SessionKeys } from "../keys.ts";
import { code, freeingScript, scriptReply, storeScript } from "../store-script.ts";

/** Where a session stands in the sorted sets. */
export interface SessionEntry {
  readonly id: string;
  readonly username: string;
  /** Time of creation in a form that sorts as text. */
  readonly sortable: string;
}

export interface PutSession {
  readonly keys: SessionKeys;
  readonly session: SessionRecord;
  readonly sortable: string;
  readonly millisecondsToLive: number;
  readonly bounds: SessionBounds;
}

export interface ListSessions {
  readonly keys: SessionKeys;
  readonly set: string;
  /** Bounds of the members, as ZRANGE BYLEX takes them. */
  readonly lower: string;
  readonly upper: string;
  readonly limit: number;
  readonly now: number;
}

export interface SessionList {
  readonly sessions: readonly SessionRecord[];
  /** Upper bound to continue with; undefined at the end. */
  readonly upper: string | undefined;
}

export interface PurgeSessions {
  readonly keys: SessionKeys;
  readonly projectUid: string;
  readonly cursor: string;
}

export interface RevokeSession {
  readonly id: string;
  /** Until its tokens expire. */
  readonly seconds: number;
  /** When the latest of them was made, in Unix seconds, by the clock of whoever made it. */
  readonly latest: number;
  /** Seconds for which a revocation outlives its tokens. */
  readonly grace: number;
}

export interface SessionScripts {
  put(call: PutSession): Promise<"stored" | "full">;
  read(keys: SessionKeys, id: string): Promise<SessionRecord | undefined>;
  touch(keys: SessionKeys, id: string, times: { readonly lastRefresh: number; readonly now: number }): Promise<boolean>;
  remove(keys: SessionKeys, entry: SessionEntry): Promise<boolean>;
  list(call: ListSessions): Promise<SessionList>;
  revoke(call: RevokeSession): Promise<void>;
  /** The next cursor; undefined at the end. */
  purge(call: PurgeSessions): Promise<string | undefined>;
}

const membersPerList = 500;
const entriesPerPurge = 200;
/** Followers that fell further behind read the sorted set. */
const streamLength = 10_000;

export function createSessionScripts(redisClient: RedisClient): SessionScripts {
  const put = storeScript("sessions/put-session-4", "write");
  const touch = freeingScript("sessions/touch-session-1");
  const remove = freeingScript("sessions/remove-session-4");
  const list = storeScript("sessions/list-sessions-1", "read");
  const revoke = freeingScript("sessions/revoke-session-2");
  const purge = freeingScript("sessions/purge-sessions-3");
  const allKeys = (keys: SessionKeys, id: string) => [keys.session(id), keys.byCreation, keys.byUser, keys.byExpiry];

  return {
    async put({ keys, session, sortable, millisecondsToLive, bounds }) {
      const { id, username, credentialRevision, created, lastRefresh, expires } = session;
      const record = [id, username, credentialRevision, created, sortable, lastRefresh, expires];
      const limits = [keys.session(""), bounds.maxPerUser, bounds.maxPerProject];
      const args = [...record, millisecondsToLive, ...limits, session.projectUid];
      const reply = await redisClient.run(put, allKeys(keys, id), args);
      return scriptReply(reply).code === code.done ? "stored" : "full";
    },
    async read(keys, id) {
      const key = keys.session(id);
      return sessionOf(await redisClient.read(key, "HGETALL", key));
    },
    async touch(keys, id, { lastRefresh, now }) {
      const reply = await redisClient.run(touch, [keys.session(id)], [lastRefresh, now]);
      return scriptReply(reply).code === code.done;
    },
    async remove(keys, { id, username, sortable }) {
      const reply = await redisClient.run(remove, allKeys(keys, id), [id, username, sortable]);
      return scriptReply(reply).code === code.done;
    },
    async list({ keys, set, lower, upper, limit, now }) {
      const args = [keys.session(""), lower, upper, limit, now, membersPerList];
      const [sessions, next] = scriptReply(await redisClient.run(list, [set], args)).rest;
      const found = listOf(sessions).map(sessionOf);
      return { sessions: found.filter((session) => session !== undefined), upper: textOf(next) || undefined };
    },
    async revoke({ id, seconds, latest, grace }) {
      await redisClient.run(revoke, [revocations.stream, revocations.set], [id, seconds, grace, streamLength, latest]);
    },
    async purge({ keys, projectUid, cursor }) {
      const lists = [keys.byCreation, keys.byUser, keys.byExpiry];
      const reply = scriptReply(
        await redisClient.run(purge, lists, [keys.session(""), projectUid, cursor, entriesPerPurge]),
      );
      return reply.code === code.done ? undefined : textOf(reply.rest[0]);
    },
  };
}

function sessionOf(reply: unknown): SessionRecord | undefined {
  const fields = fieldsOf(reply);
  if (fields.size === 0) return undefined;
  return {
    id: fields.get("id") ?? "",
    projectUid: fields.get("project_uid") ?? "",
    username: fields.get("username") ?? "",
    credentialRevision: fields.get("credential_revision") ?? "",
    created: Number(fields.get("created")),
    lastRefresh: Number(fields.get("last_refresh")),
    expires: Number(fields.get("expires")),
  };
}
