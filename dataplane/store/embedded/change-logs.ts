// Logs of changes in a table: entries are added in the transaction of their write, and the oldest
// are trimmed with it. One process has the database, so followers are called directly.

import type { DatabaseSync } from "node:sqlite";
import type { Clock } from "../../../core/clock.ts";
import {
  changeOf,
  isAt,
  isOlder,
  type LogEntry,
  loggedBytes,
  type ParsedPosition,
  parsePosition,
  positionOf,
} from "../change-entries.ts";
import type { ChangeLogs, ChangesRead, LoggedRef } from "../ports/changes.ts";
import type { Owner } from "../ports/refs.ts";
import { placeOf } from "./idempotency-records.ts";
import type { Transactions } from "./transactions.ts";

export interface ChangeTable extends ChangeLogs {
  /** Inside a write: adds an entry; deletes the log where the reference declares none. */
  add(of: LoggedRef, kind: "put" | "delete", objectOf?: () => ChangedObject): void;
  /** Inside a write, for a purge. */
  deleteLog(of: LoggedRef): void;
  /** Bytes of the log, 0 without one. */
  bytes(of: LoggedRef): number;
  /** What memory holds of the tables may be wrong now. */
  forget(): void;
}

/** As in the port: both "" of a root key. */
export interface ChangedObject {
  readonly id: string;
  readonly owner: Owner;
}

interface Log {
  readonly log: number;
  /** Numbers of its entries: all between the two are there. */
  readonly oldest: number;
  readonly newest: number;
}

/** Entries that one write trims at most. */
const trimmedPerWrite = 1_000;

export function createChangeLogs(database: DatabaseSync, transactions: Transactions, clock: Clock): ChangeTable {
  const statements = prepare(database);
  const followers = new Map<string, Set<() => void>>();
  let logs: Map<string, Log> | undefined;

  const logOf = (of: LoggedRef): Log | undefined => {
    logs ??= new Map(statements.logs.all().map((row) => [keyOf(columnsIn(row)), row as unknown as Log]));
    return logs.get(keyOf(placeOf(of)));
  };

  const remember = (of: LoggedRef, log: Log | undefined): void => {
    if (log === undefined) logs?.delete(keyOf(placeOf(of)));
    else logs?.set(keyOf(placeOf(of)), log);
    // A group of writes is committed in the turn that carries them out.
    queueMicrotask(() => {
      for (const call of [...(followers.get(keyOf(placeOf(of))) ?? [])]) call();
    });
  };

  const begin = (of: LoggedRef): Log => {
    const log = Number(statements.addLog.run(...placeOf(of)).lastInsertRowid);
    statements.add.run(log, 1, clock.now(), "none", "", "");
    const begun = { log, oldest: 1, newest: 1 };
    remember(of, begun);
    return begun;
  };

  /** The first entry to keep. The newest old one stays: who follows a quiet log is at it. */
  const keptFrom = ({ log, oldest, newest }: Log, of: LoggedRef): number => {
    const { retentionSeconds = 0, maxEntries = 0 } = of.changes ?? {};
    const until = Math.min(newest, oldest + trimmedPerWrite);
    const live = statements.firstLive.get(log, oldest, until, clock.now() - retentionSeconds * 1_000);
    return Math.min(until, Math.max(oldest, Number(live?.number ?? until) - 1, newest - maxEntries + 1));
  };

  const deleteLog = (of: LoggedRef): void => {
    const known = logOf(of);
    if (known === undefined) return;
    statements.deleteEntries.run(known.log, known.newest + 1);
    statements.deleteLog.run(known.log);
    remember(of, undefined);
  };

  const entryAt = ({ log }: Log, number: number): LogEntry => {
    const row = statements.entry.get(log, number);
    if (row === undefined) throw new Error("A log of changes has no newest entry");
    return entryOf(log, row);
  };

  const read = (known: Log, position: ParsedPosition, limit: number): ChangesRead => {
    const number = Number(position.id.split("-")[1]);
    const [at, ...behind] = statements.from.all(known.log, number, limit + 1).map((row) => entryOf(known.log, row));
    if (isAt(position, at)) return { outcome: "changes", changes: behind.map(changeOf) };
    return { outcome: isOlder(position.id, idOf(known.log, known.oldest)) ? "expired" : "lost" };
  };

  return {
    add(of, kind, objectOf = () => ({ id: "", owner: "" })) {
      const known = logOf(of);
      if (known === undefined) return;
      if (of.changes === undefined) {
        deleteLog(of);
        return;
      }
      const { id, owner } = objectOf();
      const grown = { ...known, newest: known.newest + 1 };
      statements.add.run(known.log, grown.newest, clock.now(), kind, id, owner);
      const oldest = keptFrom(grown, of);
      if (oldest > known.oldest) statements.deleteEntries.run(known.log, oldest);
      statements.update.run(oldest, grown.newest, known.log);
      remember(of, { ...grown, oldest });
    },
    deleteLog,
    bytes(of) {
      const known = logOf(of);
      const perEntry = "resource" in of ? loggedBytes.object : loggedBytes.document;
      return known === undefined ? 0 : (known.newest - known.oldest + 1) * perEntry;
    },
    forget() {
      logs = undefined;
    },
    async newestChange(of) {
      const newest = await transactions.read(() => {
        const known = logOf(of);
        return known && entryAt(known, known.newest);
      });
      if (newest !== undefined) return positionOf(newest);
      const begun = await transactions.write(() => {
        const known = logOf(of) ?? begin(of);
        return entryAt(known, known.newest);
      });
      return positionOf(begun);
    },
    changesAfter: (of, position, limit) =>
      transactions.read((): ChangesRead => {
        const known = logOf(of);
        const parsed = parsePosition(position);
        return known === undefined || parsed === undefined ? { outcome: "lost" } : read(known, parsed, limit);
      }),
    onChanges(of, call) {
      const key = keyOf(placeOf(of));
      // Each call ends by itself, even if two are the same function.
      const own = (): void => call();
      followers.set(key, (followers.get(key) ?? new Set()).add(own));
      return () => {
        const left = followers.get(key);
        left?.delete(own);
        if (left?.size === 0) followers.delete(key);
      };
    },
  };
}

type Row = Readonly<Record<string, unknown>>;

/** Logs are numbered anew, never again alike. */
function entryOf(log: number, row: Row): LogEntry {
  const { number, time, kind, id, owner } = row;
  const fields = ["kind", kind, "id", id, "owner", owner, "time", time].map(String);
  return { id: idOf(log, Number(number)), fields };
}

function idOf(log: number, number: number): string {
  return `${log}-${number}`;
}

function columnsIn({ namespace, project, place }: Row): readonly string[] {
  return [namespace, project, place].map(String);
}

function keyOf(columns: readonly string[]): string {
  return JSON.stringify(columns);
}

function prepare(database: DatabaseSync) {
  const entry = "SELECT number, time, kind, id, owner FROM changes WHERE log = ?";
  return {
    logs: database.prepare("SELECT log, namespace, project, place, oldest, newest FROM change_logs"),
    addLog: database.prepare(
      "INSERT INTO change_logs (namespace, project, place, oldest, newest) VALUES (?, ?, ?, 1, 1)",
    ),
    update: database.prepare("UPDATE change_logs SET oldest = ?, newest = ? WHERE log = ?"),
    deleteLog: database.prepare("DELETE FROM change_logs WHERE log = ?"),
    add: database.prepare("INSERT INTO changes (log, number, time, kind, id, owner) VALUES (?, ?, ?, ?, ?, ?)"),
    entry: database.prepare(`${entry} AND number = ?`),
    from: database.prepare(`${entry} AND number >= ? ORDER BY number LIMIT ?`),
    firstLive: database.prepare(
      "SELECT number FROM changes WHERE log = ? AND number BETWEEN ? AND ? AND time >= ? ORDER BY number LIMIT 1",
    ),
    deleteEntries: database.prepare("DELETE FROM changes WHERE log = ? AND number < ?"),
  };
}
