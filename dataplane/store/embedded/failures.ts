// What an error of SQLite means for the caller: nothing happened, the outcome is unknown, or a
// defect.

import { OutcomeUnknown, StoreFull, StoreUnavailable } from "../../../core/errors/store-errors.ts";

/** Primary result codes of SQLite that this adapter distinguishes. */
export const sqlite = {
  busy: 5,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  notADatabase: 26,
} as const;

const meanings = new Map<number, string>([
  [sqlite.busy, "The database is locked by another process"],
  [sqlite.readOnly, "The data folder can't be written to"],
  [sqlite.ioError, "Reading or writing the data folder failed"],
  [sqlite.corrupt, "The database is damaged"],
  [sqlite.full, "The disk that holds the data folder is full"],
  [sqlite.cannotOpen, "The database can't be opened"],
  [sqlite.notADatabase, "The database file is damaged or not a database"],
]);

/** The primary result code, when `error` comes from SQLite. */
export function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("code" in error) || error.code !== "ERR_SQLITE_ERROR") return undefined;
  return "errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : undefined;
}

/** A sentence for an operator, when the file or its disk is at fault and not the program. */
export function meaningOf(error: unknown): string | undefined {
  const code = resultCode(error);
  return code === undefined ? undefined : meanings.get(code);
}

/** For errors before the commit: the file or disk refused, nothing happened. Others: defects. */
export function withoutEffect(error: unknown): unknown {
  const meaning = meaningOf(error);
  if (meaning === undefined) return error;
  const Failure = resultCode(error) === sqlite.full ? StoreFull : StoreUnavailable;
  return new Failure(meaning, { cause: error });
}

/**
 * For errors of the commit itself: a page may have reached the disk and be there after a restart.
 */
export function withUnknownEffect(error: unknown): OutcomeUnknown {
  return new OutcomeUnknown(meaningOf(error) ?? "The commit failed", { cause: error });
}
