// Settings of backups and restores, as those in settings.ts.

import type { Setting } from "./read-settings.ts";
import {
  durationBetween,
  listOf,
  readCount,
  readProjectPatterns,
  readPublicUrl,
  readText,
  readTime,
} from "./setting-readers.ts";

/** `NAMESPACE/NAME`, `NAMESPACE/*` for those of a namespace, or `*`. */
export const projects = {
  flag: "projects",
  placeholder: "LIST",
  help: "Projects, comma-separated: default/shop, default/* for those of a namespace, or * for all",
  read: readProjectPatterns,
} as const satisfies Setting<readonly string[]>;

export const keep = {
  flag: "keep",
  placeholder: "NUMBER",
  help: "Backups that are kept of each Project, the newest ones; older ones are removed once a new one is complete",
  fallback: "7",
  read: readCount,
} as const satisfies Setting<number>;

export const recipients = {
  flag: "recipients",
  placeholder: "LIST",
  help: "Public keys of age, comma-separated, which backups are encrypted for; default: not encrypted",
  fallback: "",
  read: listOf,
} as const satisfies Setting<readonly string[]>;

export const identityFile = {
  flag: "identity-file",
  placeholder: "FILE",
  help: "File with the secret key of age that opens encrypted backups, as age-keygen writes it",
  read: readText,
} as const satisfies Setting<string>;

export const before = {
  flag: "before",
  placeholder: "TIME",
  help: "The newest backup that began before this time, such as 2026-11-30T12:00:00Z; default: the newest one",
  read: readTime,
} as const satisfies Setting<number>;

export const s3Endpoint = {
  flag: "s3-endpoint",
  placeholder: "URL",
  help: "Where the S3-compatible service of a bucket is; default: AWS in --s3-region",
  read: readPublicUrl,
} as const satisfies Setting<string>;

export const s3Region = {
  flag: "s3-region",
  placeholder: "NAME",
  help: "Region of a bucket, which requests are signed for",
  fallback: "us-east-1",
  read: readText,
} as const satisfies Setting<string>;

export const s3AccessKeyId = {
  flag: "s3-access-key-id",
  placeholder: "ID",
  help: "Access key of a bucket",
  read: readText,
} as const satisfies Setting<string>;

export const s3SecretAccessKey = {
  flag: "s3-secret-access-key",
  placeholder: "KEY",
  help: "Its secret; better set by the variable, since other users of a machine see flags",
  read: readText,
} as const satisfies Setting<string>;

export const backupMaxAge = {
  flag: "backup-max-age",
  placeholder: "DURATION",
  help: "How old the newest backup may become before an alert fires, such as 26h; default: no backups are expected",
  read: durationBetween(60, 40 * 24 * 3_600, "from 1m to 960h"),
} as const satisfies Setting<number>;
