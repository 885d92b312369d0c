// Remembers ended sessions that were written to Redis, and writes them again to a Redis that may
// have lost them: a replica that was promoted before it had them, a server that came back with an
// older snapshot or without its last second. Otherwise a session could be refreshed again once
// nobody remembers its end. Each primary of a Cluster is checked by itself. One that can't be
// written to is tried again at the next check.

import { isStoreFailure, StoreUnavailable } from "../../../../core/errors/store-errors.ts";
import { createNamedTasks } from "../../../../core/named-tasks.ts";
import type { Primary } from "../../../../core/redis/primaries.ts";
import type { RedisClient } from "../../../../core/redis/redis-client.ts";
import { revocations, type SessionKeys } from "../keys.ts";
import type { RevokeSession, SessionEntry, SessionScripts } from "./session-scripts.ts";

export interface SessionEnd {
  readonly keys: SessionKeys;
  readonly entry: SessionEntry;
  readonly revocation: RevokeSession;
}

export interface SessionRevocations {
  /**
   * Announces the end to every replica, and remembers it unless Redis refused it: then nothing
   * happened, and nothing may happen later.
   */
  revoke(end: SessionEnd): Promise<void>;
  /** Checks in the background whether a primary was replaced, and writes what may be missing. */
  check(): void;
  stop(): Promise<void>;
}

export interface RevocationDeps {
  readonly scripts: Pick<SessionScripts, "revoke" | "remove">;
  readonly redisClient: Pick<RedisClient, "primaries" | "primaryOf">;
  readonly monotonic: () => number;
  readonly onFailure: (failure: unknown) => void;
}

/** Beyond either, the oldest is dropped: if Redis lost it by then, it is lost. */
const maxRemembered = 10_000;
const rememberedMs = 3_600_000;

const writtenAtOnce = 100;

/** One of the two writes of an end, each to the primary of its key. */
interface RevocationWrite {
  readonly key: string;
  readonly write: () => Promise<unknown>;
  /** The replication id of the primary that has it; undefined where that isn't known. */
  in: string | undefined;
}

export function createSessionRevocations({
  scripts,
  redisClient,
  monotonic,
  onFailure,
}: RevocationDeps): SessionRevocations {
  /** Oldest first. */
  const ends = new Map<string, { readonly notedAt: number; readonly writes: readonly RevocationWrite[] }>();
  /** The replication id that each primary had last. */
  const replicationIds = new Map<string, string>();
  const tasks = createNamedTasks();
  let isStopped = false;

  const forgetOld = (): void => {
    const until = monotonic() - rememberedMs;
    for (const [id, { notedAt }] of ends) {
      if (ends.size <= maxRemembered && notedAt > until) return;
      ends.delete(id);
    }
  };

  /** By the name of the primary that is to keep it. */
  const writesByPrimary = (): ReadonlyMap<string, readonly RevocationWrite[]> => {
    const names = new Map<string, string>();
    const found = new Map<string, RevocationWrite[]>();
    for (const revocationWrite of [...ends.values()].flatMap(({ writes }) => writes)) {
      const name = names.get(revocationWrite.key) ?? redisClient.primaryOf(revocationWrite.key);
      names.set(revocationWrite.key, name);
      const writes = found.get(name) ?? [];
      found.set(name, writes);
      writes.push(revocationWrite);
    }
    return found;
  };

  const writeAgain = async (revocationWrite: RevocationWrite, replicationId: string): Promise<boolean> => {
    try {
      await revocationWrite.write();
    } catch (failure) {
      onFailure(failure);
      // A defect would be one at the next try, too.
      if (isStoreFailure(failure)) return false;
    }
    revocationWrite.in = replicationId;
    return true;
  };

  /** A few at once, and no further once none of them is taken. */
  const visit = async (primary: Primary, writes: readonly RevocationWrite[]): Promise<void> => {
    const replicationId = await primary.replicationId();
    if (replicationId === undefined) return;
    replicationIds.set(primary.name, replicationId);
    const missing = writes.filter((revocationWrite) => revocationWrite.in !== replicationId);
    for (let from = 0; from < missing.length && !isStopped; from += writtenAtOnce) {
      const batch = missing.slice(from, from + writtenAtOnce);
      const written = await Promise.all(batch.map((revocationWrite) => writeAgain(revocationWrite, replicationId)));
      if (!written.includes(true)) return;
    }
  };

  return {
    async revoke({ keys, entry, revocation }) {
      const revocationWrite = (key: string, write: RevocationWrite["write"]): RevocationWrite => {
        return { key, write, in: replicationIds.get(redisClient.primaryOf(key)) };
      };
      // Before it is sent: the server that acknowledges it may be replaced meanwhile.
      const writes = [
        revocationWrite(revocations.set, () => scripts.revoke(revocation)),
        revocationWrite(keys.byUser, () => scripts.remove(keys, entry)),
      ];
      const remember = (): void => {
        ends.delete(entry.id);
        ends.set(entry.id, { notedAt: monotonic(), writes });
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
    check() {
      forgetOld();
      const primaries = redisClient.primaries();
      if (primaries.length === 0) return;
      const names = new Set(primaries.map(({ name }) => name));
      for (const name of replicationIds.keys()) if (!names.has(name)) replicationIds.delete(name);
      const writes = writesByPrimary();
      for (const primary of primaries) {
        tasks.start(primary.name, () => visit(primary, writes.get(primary.name) ?? []));
      }
    },
    async stop() {
      isStopped = true;
      await tasks.idle();
    },
  };
}
