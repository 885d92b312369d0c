// Idempotency records in a table: read by their key, and written in the transaction of their write.

import type { DatabaseSync } from "node:sqlite";
import type { Clock } from "../../../core/clock.ts";
import type { IdempotencyRecord, IdempotencyRecords } from "../ports/idempotency.ts";
import type { CollectionRef, DocumentRef } from "../ports/refs.ts";
import type { Transactions } from "./transactions.ts";

export interface RecordTable extends IdempotencyRecords {
  /** Inside a transaction: what `write` answers, or the existing record. */
  once<T extends { readonly outcome: string }>(
    of: CollectionRef | DocumentRef,
    record: IdempotencyRecord | undefined,
    write: () => T,
  ): T | { readonly outcome: "repeated"; readonly record: string };
}

/** Expired rows go a few at a time, with each write that leaves one. */
const sweptPerWrite = 20;

export function createIdempotencyRecords(
  database: DatabaseSync,
  transactions: Transactions,
  clock: Clock,
): RecordTable {
  const owned = "namespace = ? AND project = ? AND place = ?";
  const statements = {
    get: database.prepare(`SELECT text FROM idempotency_records WHERE ${owned} AND key = ? AND expires > ?`),
    put: database.prepare("INSERT OR REPLACE INTO idempotency_records VALUES (?, ?, ?, ?, ?, ?)"),
    sweep: database.prepare(
      `DELETE FROM idempotency_records WHERE (namespace, project, place, key) IN
        (SELECT namespace, project, place, key FROM idempotency_records WHERE expires <= ? LIMIT ?)`,
    ),
  };
  const seconds = () => Math.floor(clock.now() / 1_000);

  function find(of: CollectionRef | DocumentRef, key: string): string | undefined {
    const row = statements.get.get(...placeOf(of), key, seconds());
    return row === undefined ? undefined : String(row.text);
  }

  return {
    idempotencyRecord: (of, key) => transactions.read(() => find(of, key)),
    once(of, record, write) {
      if (record === undefined) return write();
      const before = find(of, record.key);
      if (before !== undefined) return { outcome: "repeated", record: before };
      const result = write();
      if (result.outcome === "created") {
        statements.sweep.run(seconds(), sweptPerWrite);
        statements.put.run(...placeOf(of), record.key, record.text, seconds() + record.seconds);
      }
      return result;
    },
  };
}

/** A resource and a root key may have one name. */
export function placeOf(of: CollectionRef | DocumentRef): [string, string, string] {
  const { namespace, name } = of.project;
  return [namespace, name, "resource" in of ? `api/${of.resource}` : `json/${of.rootKey}`];
}
