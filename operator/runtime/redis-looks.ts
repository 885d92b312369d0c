// What is found in Redis now and then for metrics: how much memory its servers use, when their
// certificates end, and, where backups are expected, what the last one says of itself.

import { type BackupReport, lastBackupField, readBackupReport } from "../../core/config/backup-report.ts";
import { configKeys } from "../../core/config/config-keys.ts";
import type { RedisClient } from "../../core/redis/redis-client.ts";
import { optionalText } from "../../core/redis/reply.ts";
import type { ExpectedBackups } from "../observe/config-metrics.ts";
import { lookAtRedis, type RedisServer } from "../observe/figures.ts";
import type { OperatorSettings } from "./operator-context.ts";

export interface RedisLooks {
  servers(): readonly RedisServer[];
  /** Undefined where none are expected, and before the first look. */
  backups(): ExpectedBackups | undefined;
  /** Rejects while Redis is unreachable; what was found before stays. */
  look(): Promise<void>;
}

export interface RedisLooksDeps {
  readonly settings: Pick<OperatorSettings, "backupMaxAgeSeconds">;
  /** Undefined before Redis was reached. */
  readonly redisClient: () => RedisClient | undefined;
}

export function createRedisLooks({ settings, redisClient }: RedisLooksDeps): RedisLooks {
  let servers: readonly RedisServer[] = [];
  let backups: ExpectedBackups | undefined;
  return {
    servers: () => servers,
    backups: () => backups,
    async look() {
      const opened = redisClient();
      servers = opened === undefined ? [] : await lookAtRedis(opened);
      const { backupMaxAgeSeconds: maxAgeSeconds } = settings;
      if (opened === undefined || maxAgeSeconds === undefined) return;
      backups = { maxAgeSeconds, last: await readLastBackup(opened) };
    },
  };
}

/** Undefined while there was none. */
async function readLastBackup(redisClient: RedisClient): Promise<BackupReport | undefined> {
  const text = await redisClient.read(configKeys.backup, "HGET", configKeys.backup, lastBackupField);
  return readBackupReport(optionalText(text) ?? "");
}
