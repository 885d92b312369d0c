// How much collections and documents hold: sums that every write keeps, and a document's own text.

import type { DatabaseSync } from "node:sqlite";
import { membersIn } from "../../../core/json/members.ts";
import type { ByteCounts, DocumentSize, Sizes } from "../ports/sizes.ts";
import type { ChangeTable } from "./change-logs.ts";
import type { Collections } from "./collections.ts";
import type { Transactions } from "./transactions.ts";

export interface SizeDeps {
  readonly database: DatabaseSync;
  readonly transactions: Transactions;
  readonly collections: Collections;
  readonly changes: ChangeTable;
}

export function createSizes({ database, transactions, collections, changes }: SizeDeps): Sizes & ByteCounts {
  const select = database.prepare("SELECT text FROM documents WHERE namespace = ? AND project = ? AND root_key = ?");
  return {
    collectionSize: (ref) =>
      transactions.read(() => {
        const collection = collections.find(ref);
        const everyone = collection && collections.owner(collection, {});
        const bytes = (everyone?.bytes ?? 0) + changes.bytes(ref);
        return { objects: everyone?.objects ?? 0, bytes, isCounted: true };
      }),
    countBytes: () => Promise.resolve("done"),
    documentSize: (document) =>
      transactions.read(() => {
        const { project, rootKey } = document;
        const row = select.get(project.namespace, project.name, rootKey);
        return row === undefined ? { bytes: 0, members: 0 } : sizeOf(String(row.text), changes.bytes(document));
      }),
  };
}

function sizeOf(text: string, bytesOfLog: number): DocumentSize {
  return { bytes: Buffer.byteLength(text) + bytesOfLog, members: membersIn(text) };
}
