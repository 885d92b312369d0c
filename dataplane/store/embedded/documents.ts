// Documents in one table: one text per root key, read and changed by core/json/splice.ts, each
// write in a transaction. Refuses as the port says: path and depth in splice.ts, the size here.

import type { DatabaseSync } from "node:sqlite";
import { membersIn } from "../../../core/json/members.ts";
import { insertAt, isTooDeep, putAt, readAt, removeAt, type SpliceRefusal } from "../../../core/json/splice.ts";
import { unlessChanged } from "../expected.ts";
import {
  type DocumentLimits,
  type DocumentReads,
  type DocumentWrite,
  type DocumentWrites,
  type Expecting,
  maxDepth,
} from "../ports/documents.ts";
import type { DocumentPurges } from "../ports/purges.ts";
import type { DocumentRef, Path } from "../ports/refs.ts";
import type { ChangeTable } from "./change-logs.ts";
import type { RecordTable } from "./idempotency-records.ts";
import type { Transactions } from "./transactions.ts";

const missing = { outcome: "missing_document" } as const;

interface Row {
  readonly document: number;
  readonly text: string;
}

interface Write {
  readonly path: Path;
  /** What a read then returns, because canonical text is stored unchanged. */
  readonly value: string;
  readonly limits: DocumentLimits & Expecting;
}

type Spliced =
  | { readonly outcome: "created" | "replaced" | "removed"; readonly document: string }
  | { readonly outcome: "changed" }
  | SpliceRefusal;

export interface DocumentDeps {
  readonly database: DatabaseSync;
  readonly transactions: Transactions;
  readonly records: RecordTable;
  readonly changes: ChangeTable;
}

export function createDocuments({
  database,
  transactions,
  records,
  changes,
}: DocumentDeps): DocumentReads & DocumentWrites & DocumentPurges {
  const key = "namespace = ? AND project = ? AND root_key = ?";
  const statements = {
    select: database.prepare(`SELECT document, text FROM documents WHERE ${key}`),
    insert: database.prepare(
      `INSERT INTO documents (namespace, project, root_key, text, identity) VALUES (?, ?, ?, ?, hex(randomblob(8)))
        ON CONFLICT DO NOTHING`,
    ),
    update: database.prepare("UPDATE documents SET text = ? WHERE document = ?"),
    identity: database.prepare(`SELECT identity FROM documents WHERE ${key}`),
    delete: database.prepare(`DELETE FROM documents WHERE ${key} AND identity = ?`),
  };

  function rowOf(document: DocumentRef): Row | undefined {
    return statements.select.get(...keyOf(document)) as Row | undefined;
  }

  /** Writes what `splice` makes of the stored text. */
  function write(
    document: DocumentRef,
    { path, value, limits }: Write,
    splice: (text: string) => Spliced,
  ): DocumentWrite {
    const row = rowOf(document);
    if (row === undefined) return missing;
    const spliced = unlessChanged(splice(row.text), row.text, path, limits.expected);
    if (!("document" in spliced)) return spliced;
    if (spliced.outcome === "removed") throw new Error("An insert or put can't remove");
    const growth = growthWithin(limits, row.text, spliced.document);
    if (typeof growth === "string") return { outcome: growth };
    statements.update.run(spliced.document, row.document);
    changes.add(document, "put");
    const { outcome } = spliced;
    return limits.maxGrowth === undefined ? { outcome, text: value } : { outcome, text: value, growth };
  }

  return {
    initialise: (document, text) =>
      transactions.write(() => {
        const isNew = statements.insert.run(...keyOf(document), text).changes === 1;
        if (isNew) changes.add(document, "put");
        return isNew;
      }),

    readAt: (document, path) =>
      transactions.read(() => {
        const row = rowOf(document);
        return row === undefined ? missing : readAt(row.text, path);
      }),

    insertAt(document, path, text, limits) {
      if (isTooDeep(path, text, maxDepth)) return Promise.resolve({ outcome: "too_deep" });
      return transactions.write(() =>
        records.once(document, limits.record, () =>
          write(document, { path, value: text, limits }, (stored) => insertAt(stored, path, text, maxDepth)),
        ),
      );
    },

    putAt(document, path, text, limits) {
      if (isTooDeep(path, text, maxDepth)) return Promise.resolve({ outcome: "too_deep" });
      const options = { mayCreate: limits.mayCreate, maxDepth };
      return transactions.write(() =>
        write(document, { path, value: text, limits }, (stored) =>
          path.length === 0 && membersIn(stored) < (limits.minMembers ?? 0)
            ? { outcome: "changed" }
            : putAt(stored, path, text, options),
        ),
      );
    },

    removeAt: (document, path, expecting = {}) =>
      transactions.write(() => {
        const row = rowOf(document);
        if (row === undefined) return missing;
        const removed = unlessChanged(removeAt(row.text, path), row.text, path, expecting.expected);
        if (!("document" in removed)) return removed;
        statements.update.run(removed.document, row.document);
        changes.add(document, "put");
        return { outcome: "removed" };
      }),

    documentIdentity: (document) =>
      transactions.read(() => {
        const row = statements.identity.get(...keyOf(document));
        return row && String(row.identity);
      }),

    purgeDocument: (document, identity) =>
      transactions.write(() => {
        if (statements.delete.run(...keyOf(document), identity).changes === 0) return "gone";
        changes.deleteLog(document);
        return "done";
      }),
  };
}

/** Bytes by which a document grows, or why it may not. */
function growthWithin(
  { maxBytes, maxGrowth }: DocumentLimits,
  before: string,
  after: string,
): number | "document_too_large" | "quota_exceeded" {
  const bytes = Buffer.byteLength(after);
  if (bytes > maxBytes) return "document_too_large";
  const growth = maxGrowth === undefined ? 0 : bytes - Buffer.byteLength(before);
  return growth > (maxGrowth ?? 0) ? "quota_exceeded" : growth;
}

function keyOf({ project, rootKey }: DocumentRef): [string, string, string] {
  return [project.namespace, project.name, rootKey];
}
