// Logs of changes: one stream per collection or root key, which the scripts that write add to
// (includes/change-log.lua). Refuses as the port says.

import { randomBytes } from "node:crypto";
import type { RedisClient } from "../../../../core/redis/redis-client.ts";
import { listOf, textOf, textsOf } from "../../../../core/redis/reply.ts";
import type { Subscriber } from "../../../../core/redis/subscriber.ts";
import {
  changeOf,
  isAt,
  isOlder,
  type LogEntry,
  type ParsedPosition,
  parsePosition,
  positionOf,
} from "../../change-entries.ts";
import type { ChangeLogs, ChangesRead, LoggedRef } from "../../ports/changes.ts";
import { collectionKeys, documentKeys, type LogKeys } from "../keys.ts";
import { freeingScript, scriptReply } from "../store-script.ts";

export interface ChangeLogDeps {
  readonly redisClient: RedisClient;
  readonly subscriber: Subscriber;
}

export function createChangeLogs({ redisClient, subscriber }: ChangeLogDeps): ChangeLogs {
  // Without memory as well: once per log, and reads would be refused.
  const beginCollectionLog = freeingScript("changes/begin-collection-log-2");
  const beginDocumentLog = freeingScript("changes/begin-document-log-3");

  const begin = async (of: LoggedRef): Promise<LogEntry> => {
    const token = randomBytes(8).toString("hex");
    const { rest } = scriptReply(await runBegin(of, token));
    return entryOf(rest);
  };

  const runBegin = (of: LoggedRef, token: string): Promise<unknown> => {
    if ("resource" in of) {
      const { indexSet, log } = collectionKeys(of);
      return redisClient.run(beginCollectionLog, [indexSet, log], [token]);
    }
    const { value, size, log } = documentKeys(of);
    return redisClient.run(beginDocumentLog, [value, size, log], [token]);
  };

  const range = async (log: string, from: string, count: number): Promise<readonly LogEntry[]> =>
    listOf(await redisClient.read(log, "XRANGE", log, from, "+", "COUNT", count)).map((each) => entryOf(listOf(each)));

  const missing = async (log: string, { id }: ParsedPosition): Promise<ChangesRead> => {
    const [oldest] = await range(log, "-", 1);
    return { outcome: oldest !== undefined && isOlder(id, oldest.id) ? "expired" : "lost" };
  };

  return {
    async newestChange(of) {
      const { log } = keysOf(of);
      const [newest] = listOf(await redisClient.read(log, "XREVRANGE", log, "+", "-", "COUNT", 1));
      return positionOf(newest === undefined ? await begin(of) : entryOf(listOf(newest)));
    },
    async changesAfter(of, position, limit) {
      const { log } = keysOf(of);
      const parsed = parsePosition(position);
      if (parsed === undefined) return { outcome: "lost" };
      const [at, ...behind] = await range(log, parsed.id, limit + 1);
      return isAt(parsed, at) ? { outcome: "changes", changes: behind.map(changeOf) } : missing(log, parsed);
    },
    onChanges: (of, call) => subscriber.subscribe(keysOf(of).log, call),
  };
}

function keysOf(of: LoggedRef): LogKeys {
  return "resource" in of ? collectionKeys(of) : documentKeys(of);
}

function entryOf([id, fields]: readonly unknown[]): LogEntry {
  return { id: textOf(id), fields: textsOf(fields) };
}
