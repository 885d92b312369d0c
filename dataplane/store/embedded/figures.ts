// How much collections and documents hold: sums that every write keeps, and a document's own text.

import type { DatabaseSync } from "node:sqlite";
import { membersIn } from "../../../core/json/members.ts";
import type { DocumentFigures, FiguresStore } from "../port.ts";
import type { Collections } from "./collections.ts";
import type { Transactions } from "./transactions.ts";

export function createFigures(
  database: DatabaseSync,
  transactions: Transactions,
  collections: Collections,
): FiguresStore {
  const select = database.prepare("SELECT text FROM documents WHERE namespace = ? AND project = ? AND root_key = ?");
  return {
    collectionFigures: (ref) =>
      transactions.read(() => {
        const collection = collections.find(ref);
        const everyone = collection && collections.owner(collection, {});
        return { objects: everyone?.objects ?? 0, bytes: everyone?.bytes ?? 0, isCounted: true };
      }),
    countBytes: () => Promise.resolve("done"),
    documentFigures: ({ project, rootKey }) =>
      transactions.read(() => {
        const row = select.get(project.namespace, project.name, rootKey);
        return row === undefined ? { bytes: 0, members: 0 } : figuresOf(String(row.text));
      }),
  };
}

function figuresOf(text: string): DocumentFigures {
  return { bytes: Buffer.byteLength(text), members: membersIn(text) };
}
