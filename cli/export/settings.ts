// What `jsonplane export` is asked for.

import type { CredentialFiles } from "../service/credential.ts";

export interface ExportSettings extends CredentialFiles {
  readonly format: "ndjson" | "csv";
  readonly out: string | undefined;
  readonly resource: readonly string[] | undefined;
  readonly rootKey: readonly string[] | undefined;
  readonly owner: string | undefined;
  /** A file with an export, or a position. */
  readonly since: string | undefined;
  readonly continued: boolean;
}
