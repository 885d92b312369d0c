// Reads texts of objects in steps that don't block the event loop for long: a text is read only
// when it fits, which SQLite finds out from the row's header. Between two steps others are served.

import type { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { CollectionRef } from "../ports/refs.ts";
import type { FoundPage, PageObject } from "../read-page.ts";
import type { Collections } from "./collections.ts";
import type { Transactions } from "./transactions.ts";

/** An object's row, and its id for when the row has become another object's. */
export interface ObjectRow {
  readonly objectId: number;
  readonly id: string;
}

export interface TextReader {
  /** The first part of a page, inside the transaction that found the objects. */
  firstOf(count: number, rows: readonly ObjectRow[]): Omit<FoundPage, "filter">;
  /** In a later turn of the event loop: the texts of the first ids, undefined where gone. */
  readMore(ref: CollectionRef, ids: readonly string[]): Promise<readonly (string | undefined)[]>;
}

export interface TextReaderDeps {
  readonly database: DatabaseSync;
  readonly transactions: Transactions;
  readonly collections: Collections;
}

/** One text more than that is read alone. */
const bytesPerPart = 1024 * 1024;
const objectsPerPart = 500;

interface Row {
  readonly bytes: number;
  /** Null when it does not fit. */
  readonly text: string | null;
}

export function createTextReader({ database, transactions, collections }: TextReaderDeps): TextReader {
  const statements = prepare(database);

  return {
    firstOf(count, rows) {
      const rowAt = ({ objectId }: ObjectRow, room: number) => statements.ofObject.get(room, objectId);
      const texts = readPart(rows, rowAt);
      const objects = texts.flatMap((text, at): PageObject[] =>
        text === undefined ? [] : [{ id: (rows[at] as ObjectRow).id, text }],
      );
      return { count, objects, ids: rows.slice(texts.length).map(({ id }) => id) };
    },
    async readMore(ref, ids) {
      await nextTurn();
      return transactions.read(() => {
        const collection = collections.find(ref);
        if (collection === undefined) return ids.map(() => undefined);
        const { creation, everyone } = collection;
        return readPart(ids, (id, room) => statements.ofId.get(room, creation, everyone, id));
      });
    },
  };
}

function readPart<T>(rows: readonly T[], rowAt: (each: T, room: number) => unknown): readonly (string | undefined)[] {
  const texts: (string | undefined)[] = [];
  let bytes = 0;
  for (const each of rows.slice(0, objectsPerPart)) {
    const room = bytes === 0 ? Number.MAX_SAFE_INTEGER : bytesPerPart - bytes;
    const row = rowAt(each, room) as Row | undefined;
    if (row?.text === null) break;
    texts.push(row?.text);
    bytes += row?.bytes ?? 0;
  }
  return texts;
}

function prepare(database: DatabaseSync) {
  const fitting =
    "SELECT octet_length(o.text) AS bytes, CASE WHEN octet_length(o.text) <= ? THEN o.text END AS text FROM";
  return {
    ofObject: database.prepare(`${fitting} objects AS o WHERE o.object = ?`),
    ofId: database.prepare(
      `${fitting} entries AS e CROSS JOIN objects AS o ON o.object = e.object
        WHERE e.ordering = ? AND e.owner = ? AND e.value = '' AND e.id = ?`,
    ),
  };
}
