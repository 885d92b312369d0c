// Writes below a root key that stores nothing yet. They start from the initial value, which is
// stored only for a write that succeeds on it: until then a new initialValue in the manifest still
// counts.

import {
  type InsertOutcome,
  insertAt,
  type PutOutcome,
  putAt,
  type RemoveOutcome,
  removeAt,
} from "../../core/json/splice.ts";
import type { GuardedWrite } from "../operation/steps.ts";
import { unlessChanged } from "../store/expected.ts";
import { type DocumentRefusal, type DocumentWrites, type Expecting, maxDepth } from "../store/ports/documents.ts";
import type { DocumentRef, Path } from "../store/ports/refs.ts";

type Write = "insertAt" | "putAt" | "removeAt";

/** The store's writes, for the document of a root key with this initial value. */
export function withInitialValue(
  store: DocumentWrites,
  initialValue: string,
  guarded: GuardedWrite,
): Pick<DocumentWrites, Write> {
  return {
    insertAt: (document, path, text, limits) =>
      fromInitialValue(
        document,
        () => store.insertAt(document, path, text, limits),
        () => refusalOf(insertAt(initialValue, path, text, maxDepth), path, limits),
      ),
    putAt: (document, path, text, limits) =>
      fromInitialValue(
        document,
        () => store.putAt(document, path, text, limits),
        () => refusalOf(putAt(initialValue, path, text, { mayCreate: limits.mayCreate, maxDepth }), path, limits),
      ),
    removeAt: (document, path, expecting = {}) =>
      fromInitialValue(
        document,
        () => store.removeAt(document, path, expecting),
        () => refusalOf(removeAt(initialValue, path), path, expecting),
      ),
  };

  /** Repeats `write` over the initial value where nothing is stored, unless that refuses it. */
  async function fromInitialValue<T extends { readonly outcome: string }>(
    document: DocumentRef,
    write: () => Promise<T>,
    refusal: () => DocumentRefusal | undefined,
  ): Promise<T | DocumentRefusal> {
    const first = await guarded(write);
    if (first.outcome !== "missing_document") return first;
    const refused = refusal();
    if (refused !== undefined) return refused;
    await guarded(() => store.initialise(document, initialValue));
    return guarded(write);
  }

  /** Why the initial value can't be changed so; undefined = it can, judged by the value alone. */
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
