// What the last complete backup says of itself in Redis: the command writes it, and the operator
// shows it as metrics. Replaced by the next one.

import { isObject } from "../json/json-value.ts";
import { parseOrUndefined } from "../json/parse-or-undefined.ts";

/** The field of `configKeys.backup`. */
export const lastBackupField = "last";

export interface BackupReport {
  /** Unix milliseconds. What is written from then on may be missing in it. */
  readonly beganAt: number;
  readonly endedAt: number;
  readonly projects: number;
  /** Objects and values of root keys. */
  readonly objects: number;
  /** Of its files. */
  readonly bytes: number;
}

/** Undefined for a text that is none. */
export function readBackupReport(text: string): BackupReport | undefined {
  const value = parseOrUndefined(text);
  const isReport =
    isObject(value) &&
    ["beganAt", "endedAt", "projects", "objects", "bytes"].every((name) => typeof value[name] === "number");
  return isReport ? (value as unknown as BackupReport) : undefined;
}
