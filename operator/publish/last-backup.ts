// What the last complete backup says of itself in Redis.

import { type BackupReport, lastBackupField, readBackupReport } from "../../core/config/backup-report.ts";
import { configKeys } from "../../core/config/config-keys.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { optionalText } from "../../core/redis/reply.ts";

/** Undefined while there was none. Rejects where Redis can't be asked. */
export async function readLastBackup(redisClient: Pick<RedisClient, "read">): Promise<BackupReport | undefined> {
  const text = await redisClient.read(configKeys.backup, "HGET", configKeys.backup, lastBackupField);
  return readBackupReport(optionalText(text) ?? "");
}
