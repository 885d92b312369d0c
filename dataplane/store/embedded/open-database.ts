// Turns a data folder into an open database of the current schema version, locked against every
// other process. Refuses, with a sentence for the person who started the program, a folder that is
// in use, unwritable, damaged, foreign or newer.

import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { meaningOf, resultCode, sqlite } from "./failures.ts";
import { applicationId, schemaSteps } from "./schema.ts";

/** The data folder can't be used; `message` says why and what to do. */
export class DataFolderUnusable extends Error {
  override readonly name = "DataFolderUnusable";
}

const fileName = "jsonplane.db";

/**
 * `directory` is created when missing; `:memory:` keeps everything in memory until it is closed.
 */
export function openDatabase(directory: string): DatabaseSync {
  const file = directory === ":memory:" ? directory : fileIn(resolve(directory));
  const database = opened(file);
  try {
    configure(database);
    migrate(database, file);
    return database;
  } catch (error) {
    database.close();
    throw error instanceof DataFolderUnusable ? error : unusable(file, error);
  }
}

function fileIn(directory: string): string {
  const file = join(directory, fileName);
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    // SQLite would make the file readable to all; its log takes the file's mode. An existing file
    // is never opened here: closing it would release the lock that another store of this process
    // may have on it.
    if (!existsSync(file)) closeSync(openSync(file, "ax", 0o600));
    return file;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new DataFolderUnusable(`The data folder ${directory} can't be used: ${reason}`, { cause });
  }
}

function opened(file: string): DatabaseSync {
  try {
    return new DatabaseSync(file, { timeout: 0, enableForeignKeyConstraints: false });
  } catch (error) {
    throw unusable(file, error);
  }
}

function unusable(file: string, cause: unknown): DataFolderUnusable {
  if (resultCode(cause) === sqlite.busy) {
    const advice = "stop that process or choose another data folder";
    return new DataFolderUnusable(`${file} is in use by another process: ${advice}`, { cause });
  }
  const reason = meaningOf(cause) ?? (cause instanceof Error ? cause.message : String(cause));
  return new DataFolderUnusable(`${file} can't be used: ${reason}`, { cause });
}

/**
 * Exclusive locking is the lock between processes (the system releases it even after a SIGKILL) and
 * saves the shared memory of the log. Synchronous FULL syncs the log with every commit: what is
 * acknowledged survives a power cut.
 */
function configure(database: DatabaseSync): void {
  database.exec("PRAGMA locking_mode = EXCLUSIVE");
  database.exec("PRAGMA journal_mode = WAL");
  database.exec("PRAGMA synchronous = FULL");
  database.exec("PRAGMA trusted_schema = OFF");
  database.exec("PRAGMA temp_store = MEMORY");
  // Indexes touch many pages per object, often the same ones. With a checkpoint every 16 MiB of log
  // instead of every 4, creating 30,000 objects with three indexes writes a fifth less.
  database.exec("PRAGMA wal_autocheckpoint = 4000");
  database.exec("PRAGMA cache_size = -32768");
  database.exec("PRAGMA journal_size_limit = 67108864");
}

function migrate(database: DatabaseSync, file: string): void {
  database.exec("BEGIN EXCLUSIVE");
  try {
    const from = versionOf(database, file);
    for (const step of schemaSteps.slice(from)) database.exec(step);
    database.exec(`PRAGMA application_id = ${applicationId}`);
    database.exec(`PRAGMA user_version = ${schemaSteps.length}`);
    database.exec("COMMIT");
  } catch (error) {
    if (database.isTransaction) database.exec("ROLLBACK");
    throw error;
  }
}

function versionOf(database: DatabaseSync, file: string): number {
  const version = pragma(database, "user_version");
  const isEmpty = database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1").get() === undefined;
  if (isEmpty && version === 0) return 0;
  if (pragma(database, "application_id") !== applicationId) {
    throw new DataFolderUnusable(`${file} is another program's database: choose another data folder`);
  }
  if (version > schemaSteps.length) {
    const known = `it has schema version ${version}, this program knows ${schemaSteps.length}`;
    throw new DataFolderUnusable(`${file} was written by a newer version of jsonplane (${known}): use that version`);
  }
  return version;
}

function pragma(database: DatabaseSync, name: "user_version" | "application_id"): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
}
