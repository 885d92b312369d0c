// Names of backups, `<namespace>/<project>/<time>.ndjson.gz`, with `.age` behind where they are
// encrypted. In order of their names, those of a Project are in order of time.

import { keyOfProject } from "../../core/config/config-keys.ts";
import type { ProjectRef } from "../../core/config/types.ts";

export interface BackupName {
  readonly name: string;
  /** `<namespace>/<name>`. */
  readonly project: string;
  /** Unix milliseconds at which it began. */
  readonly beganAt: number;
  readonly isEncrypted: boolean;
}

export function backupName(project: ProjectRef, beganAt: number, isEncrypted: boolean): string {
  // As in ISO 8601, but for characters that file systems or URLs treat specially.
  const time = new Date(beganAt).toISOString().replaceAll(":", "-");
  return `${keyOfProject(project)}/${time}.ndjson.gz${isEncrypted ? ".age" : ""}`;
}

const form = /^([^/]+\/[^/]+)\/(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d\.\d{3}Z)\.ndjson\.gz(\.age)?$/;

/** Undefined for the name of a file that is no backup. */
export function readBackupName(name: string): BackupName | undefined {
  const [, project = "", hour, minute, second, age] = form.exec(name) ?? [];
  const beganAt = Date.parse(`${hour}:${minute}:${second}`);
  return Number.isNaN(beganAt) ? undefined : { name, project, beganAt, isEncrypted: age !== undefined };
}

/** Whether one of `default/shop`, `default/*` and `*` means a project, `<namespace>/<name>`. */
export function isMeant(project: string, patterns: readonly string[]): boolean {
  const all = `${project.slice(0, project.indexOf("/"))}/*`;
  return patterns.some((pattern) => pattern === "*" || pattern === all || pattern === project);
}
