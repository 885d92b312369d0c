// What `jsonplane backup` can be given, by flags or environment variables, and what it shares with
// `jsonplane restore`.

import {
  keep,
  projects,
  recipients,
  s3AccessKeyId,
  s3Endpoint,
  s3Region,
  s3SecretAccessKey,
} from "../../core/env/backup-settings.ts";
import { redis, redisCaFile } from "../../core/env/settings.ts";
import type { CommandSettings } from "../command.ts";

export const bucketSettings = { s3Endpoint, s3Region, s3AccessKeyId, s3SecretAccessKey };

export const placeArgument = {
  name: "PLACE",
  help: "Folder of backups, or a bucket of an S3-compatible service as s3://bucket/prefix",
} as const;

export const settings = {
  redis,
  redisCaFile,
  projects: { ...projects, fallback: "*" },
  keep,
  recipients,
  ...bucketSettings,
};

export type BackupSettings = CommandSettings<typeof settings, "redis">;
