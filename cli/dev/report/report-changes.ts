// Adds to what a pass reports: where new passwords and keys can be read, of new users and keys and of rotated ones; and it has stored objects
// checked against changed schemas.

import type { DevOperator } from "../apply/dev-operator.ts";
import type { SecretFiles } from "../data-folder/secret-files.ts";
import type { StoredObjectsCheck } from "../stored-data/check-stored-objects.ts";
import { type LocatedCredential, locateCredentials } from "./credentials.ts";

export interface ReportOptions {
  readonly secretFiles: SecretFiles;
  readonly check: StoredObjectsCheck;
}

/** What is there now is no news. */
export function reportingOperator(devOperator: DevOperator, { secretFiles, check }: ReportOptions): DevOperator {
  const locate = (): readonly LocatedCredential[] => locateCredentials(devOperator.view(), secretFiles);
  let known = digests(locate());
  check.afterPass();
  return {
    view: devOperator.view,
    async reconcile() {
      const news = await devOperator.reconcile();
      check.afterPass();
      const credentials = locate();
      const fresh = credentials.filter(({ subject, digest }) => known.get(subject) !== digest);
      known = digests(credentials);
      return [...news, ...fresh.map((credential) => ({ text: line(credential) }))];
    },
  };
}

function line({ kind, subject, file }: LocatedCredential): string {
  return `${subject}: its ${kind === "login" ? "password" : "key"} is in ${file}`;
}

function digests(credentials: readonly LocatedCredential[]): ReadonlyMap<string, string> {
  return new Map(credentials.map(({ subject, digest }) => [subject, digest]));
}
