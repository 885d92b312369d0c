// Writes below a root key that nothing is stored under yet. They start from the initial value, which is stored only for a write that it
// doesn't refuse: until then the manifest's next initialValue still counts.

import {
  type InsertOutcome,
  insertAt,
  type PutOutcome,
  putAt,
  type RemoveOutcome,
  removeAt,
} from "../../core/json/splice.ts";
import { unlessChanged } from "../store/expected.ts";
import { type DocumentRefusal, type DocumentWrites, type Expecting, maxDepth } from "../store/ports/documents.ts";
import type { DocumentRef, Path } from "../store/ports/refs.ts";

type Write = "insertAt" | "putAt" | "removeAt";

/** The store's own writes, for documents of a root key with this initial value. */
export function withInitialValue(store: DocumentWrites, initialValue: string): Pick<DocumentWrites, Write> {
  return {
    async insertAt(document, path, text, limits) {
      const first = await store.insertAt(document, path, text, limits);
      if (first.outcome !== "missing_document") return first;
      const refusal = refusalOf(insertAt(initialValue, path, text, maxDepth), path, limits);
      return refusal ?? initialised(document, () => store.insertAt(document, path, text, limits));
    },
    async putAt(document, path, text, limits) {
      const first = await store.putAt(document, path, text, limits);
      if (first.outcome !== "missing_document") return first;
      const { mayCreate } = limits;
      const refusal = refusalOf(putAt(initialValue, path, text, { mayCreate, maxDepth }), path, limits);
      return refusal ?? initialised(document, () => store.putAt(document, path, text, limits));
    },
    async removeAt(document, path, expecting = {}) {
      const first = await store.removeAt(document, path, expecting);
      if (first.outcome !== "missing_document") return first;
      const refusal = refusalOf(removeAt(initialValue, path), path, expecting);
      return refusal ?? initialised(document, () => store.removeAt(document, path, expecting));
    },
  };

  async function initialised<T>(document: DocumentRef, write: () => Promise<T>): Promise<T> {
    await store.initialise(document, initialValue);
    return write();
  }

  /** Why the initial value can't be changed so; undefined = it can, as far as that depends on the value. */
  function refusalOf(
    spliced: InsertOutcome | PutOutcome | RemoveOutcome,
    path: Path,
    { expected, maxBytes = Number.POSITIVE_INFINITY }: Expecting & { readonly maxBytes?: number },
  ): DocumentRefusal | undefined {
    const changed = unlessChanged(spliced, initialValue, path, expected);
    if (!("document" in changed)) return changed;
    return Buffer.byteLength(changed.document) > maxBytes ? { outcome: "document_too_large" } : undefined;
  }
}
