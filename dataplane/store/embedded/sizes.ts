// How much collections and documents hold: sums that every write keeps, and a document's own text.

import type { DatabaseSync } from "node:sqlite";
import { membersIn } from "../../../core/json/members.ts";
import type { ByteCounts, DocumentSize, Sizes } from "../ports/sizes.ts";
import type { Collections } from "./collections.ts";
import type { Transactions } from "./transactions.ts";

export function createSizes(
  database: DatabaseSync,
  transactions: Transactions,
  collections: Collections,
): Sizes & ByteCounts {
  const select = database.prepare("SELECT text FROM documents WHERE namespace = ? AND project = ? AND root_key = ?");
  return {
    collectionSize: (ref) =>
      transactions.read(() => {
        const collection = collections.find(ref);
        const everyone = collection && collections.owner(collection, {});
        return { objects: everyone?.objects ?? 0, bytes: everyone?.bytes ?? 0, isCounted: true };
      }),
    countBytes: () => Promise.resolve("done"),
    documentSize: ({ project, rootKey }) =>
      transactions.read(() => {
        const row = select.get(project.namespace, project.name, rootKey);
        return row === undefined ? { bytes: 0, members: 0 } : sizeOf(String(row.text));
      }),
  };
}

function sizeOf(text: string): DocumentSize {
  return { bytes: Buffer.byteLength(text), members: membersIn(text) };
}
