// Carries out reads and writes inside one root key's value. The store decides in one atomic step what a path means; this
// turns its refusals into problems.

import type { ProjectConfig, RootKeyConfig } from "../../core/config/types.ts";
import { Problem } from "../../core/errors/problem.ts";
import type { CanonicalJson } from "../../core/json/canonical.ts";
import { readAt } from "../../core/json/splice.ts";
import type { ProjectLimiter, Slot } from "../admission/fair-share.ts";
import type { Caller } from "../authenticate/caller.ts";
import { type DocumentGrant, requirePermission } from "../authorize/authorize.ts";
import {
  currentResponse,
  failedPrecondition,
  type Preconditions,
  writtenResponse,
} from "../http/conditional-requests.ts";
import { type Patch, patched } from "../http/patch.ts";
import { type HttpResponse, ok } from "../http/response.ts";
import { recordOf, replayed, requireSameBody } from "../operation/idempotency.ts";
import type { Recheck } from "../operation/steps.ts";
import { writeConflict } from "../operation/write-conflicts.ts";
import { conflictBudgetMs, pauseAfterConflict } from "../store/conflicts.ts";
import {
  type DocumentReads,
  type DocumentRefusal,
  type DocumentWrite,
  type DocumentWrites,
  type Expected,
  type Expecting,
  maxDepth,
} from "../store/ports/documents.ts";
import type { IdempotencyRecords } from "../store/ports/idempotency.ts";
import type { DocumentRef, Path } from "../store/ports/refs.ts";
import { withInitialValue } from "./initial-value.ts";

type DocumentStore = DocumentReads & DocumentWrites & IdempotencyRecords;

export interface DocumentContext {
  readonly project: ProjectConfig;
  readonly rootKey: RootKeyConfig;
  readonly document: DocumentRef;
  readonly path: Path;
  readonly caller: Caller;
  readonly grant: DocumentGrant;
  readonly preconditions: Preconditions | undefined;
  /** By whose turns patches are applied. */
  readonly limiter: ProjectLimiter;
  /** Of a write. */
  readonly slot?: Slot | undefined;
  readonly recheck?: Recheck;
}

export async function readDocument(store: DocumentReads, context: DocumentContext): Promise<HttpResponse> {
  if (leadsTooDeep(context.path)) throw nothingThere();
  const text = textIn(context, await store.readAt(context.document, context.path));
  if (text === undefined) throw nothingThere();
  return currentResponse(text, context.preconditions);
}

export async function insertDocument(
  store: DocumentStore,
  context: DocumentContext,
  body: CanonicalJson,
  idempotencyKey: string | undefined,
): Promise<HttpResponse> {
  const limits = { maxBytes: context.project.limits.maxDocumentBytes };
  const record =
    idempotencyKey === undefined
      ? undefined
      : recordOf({ ...context, uid: context.rootKey.uid, key: idempotencyKey, body }, []);
  if (record) {
    const before = await store.idempotencyRecord(context.document, record.key);
    if (before !== undefined) return replayInsert(before, body);
  }
  const result = await withPreconditions(store, context, (expecting) =>
    writesOf(store, context).insertAt(context.document, context.path, body.text, {
      ...limits,
      ...expecting,
      ...(record && { record }),
    }),
  );
  return result.outcome === "repeated" ? replayInsert(result.record, body) : responseOfWrite(result, context);
}

/** The answer to the first of several equal requests: the value that it sent. */
function replayInsert(record: string, body: CanonicalJson): HttpResponse {
  requireSameBody(record, body);
  return writtenResponse(201, body.text, replayed);
}

export async function putDocument(
  store: DocumentStore,
  context: DocumentContext,
  body: CanonicalJson,
): Promise<HttpResponse> {
  const limits = { maxBytes: context.project.limits.maxDocumentBytes, mayCreate: context.grant.mayCreate };
  const result = await withPreconditions(store, context, (expecting) =>
    writesOf(store, context).putAt(context.document, context.path, body.text, {
      ...limits,
      ...expecting,
    }),
  );
  return responseOfWrite(result, context);
}

export async function patchDocument(
  store: DocumentStore,
  context: DocumentContext,
  patch: Patch,
): Promise<HttpResponse> {
  const limits = { maxBytes: context.project.limits.maxDocumentBytes, mayCreate: context.grant.mayCreate };
  const result = await compareAndSet<DocumentWrite>(store, context, async ({ expected }, text) => {
    // Operations need a value; a merge patch makes one, as PUT adds a key.
    if (text === undefined && patch.format === "json-patch") return { outcome: "not_found" };
    const put = (value: string) =>
      writesOf(store, context).putAt(context.document, context.path, value, {
        ...limits,
        ...(expected && { expected }),
      });
    // A precondition failed: the store is only asked how it would refuse, and writes nothing, so any value will do.
    if (expected === "never") return put("null");
    const value = await context.limiter.inTurn(() => patched(patch, text ?? "null"), context.slot);
    return value === text ? { outcome: "replaced", text } : put(value);
  });
  return responseOfWrite(result, context);
}

export async function deleteDocument(store: DocumentStore, context: DocumentContext): Promise<HttpResponse> {
  if (leadsTooDeep(context.path)) throw nothingThere();
  const result = await withPreconditions(store, context, (expecting) =>
    writesOf(store, context).removeAt(context.document, context.path, expecting),
  );
  if (result.outcome !== "removed") throw problemOf(result, context);
  return ok("{}");
}

/** No stored value nests so deep, so the store, which follows a path step by step, need not be asked. */
function leadsTooDeep(path: Path): boolean {
  return path.length > maxDepth;
}

function nothingThere(): Problem {
  return new Problem("not_found", "Nothing is stored at this path of the root key");
}

function writesOf(store: DocumentStore, { rootKey, recheck }: DocumentContext): ReturnType<typeof withInitialValue> {
  return withInitialValue(store, rootKey.initialValue, recheck);
}

/** Carries a write out under the request's preconditions, if it has any: they hold in the very step that writes. */
function withPreconditions<T extends { readonly outcome: string }>(
  store: DocumentStore,
  context: DocumentContext,
  write: (expecting: Expecting) => Promise<T>,
): Promise<T> {
  return context.preconditions === undefined ? write({}) : compareAndSet(store, context, write);
}

/**
 * Reads what is at the path, checks it against the preconditions, and has `write` write as long as it is still there. For a request that
 * holds the lock of the path (document-lock.ts).
 */
async function compareAndSet<T extends { readonly outcome: string }>(
  store: DocumentReads,
  context: DocumentContext,
  write: (expecting: Expecting, text: string | undefined) => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + conflictBudgetMs;
  for (let attempt = 0; ; attempt += 1) {
    const text = await currentText(store, context);
    const failure = failedPrecondition(context.preconditions, text);
    // RFC 9110 §13.2.1: what would be refused anyway is refused as if there were no preconditions, and only the store knows.
    const expected = failure ? "never" : expectedOf(text);
    const result = await write({ expected }, text);
    if (result.outcome !== "changed") return result;
    if (failure) throw failure;
    if (performance.now() >= deadline) throw writeConflict("value");
    await pauseAfterConflict(attempt);
  }
}

function expectedOf(text: string | undefined): Expected {
  return text === undefined ? "nothing" : { text };
}

/** What is at the path; undefined = nothing. */
async function currentText(store: DocumentReads, context: DocumentContext): Promise<string | undefined> {
  if (leadsTooDeep(context.path)) return undefined;
  return textIn(context, await store.readAt(context.document, context.path));
}

function textIn(context: DocumentContext, result: Awaited<ReturnType<DocumentReads["readAt"]>>): string | undefined {
  // A read stores nothing: a project that is read-only, or a store that is full, still answers with the initial value.
  const found = result.outcome === "missing_document" ? readAt(context.rootKey.initialValue, context.path) : result;
  return found.outcome === "found" ? found.text : undefined;
}

function responseOfWrite(result: DocumentWrite, context: DocumentContext): HttpResponse {
  if (!("text" in result)) throw problemOf(result, context);
  return writtenResponse(result.outcome === "created" ? 201 : 200, result.text);
}

function problemOf(refusal: DocumentRefusal, context: DocumentContext): Problem {
  switch (refusal.outcome) {
    case "parent_not_found":
      return new Problem("parent_not_found", "The parent of the path does not exist; create it first");
    case "not_a_container":
      return new Problem(
        "not_a_container",
        "The parent of the path is neither an object nor an array; replace it with one first",
      );
    case "invalid_index":
      return new Problem(
        "invalid_index",
        "The parent is an array; end the path with an index such as 0, or with - to append by POST",
      );
    case "index_out_of_range":
      return new Problem(
        "index_out_of_range",
        context.grant.mayRead
          ? `The array's length is ${refusal.length}; insert at an index from 0 to ${refusal.length}, or at - to append`
          : "The index is greater than the array's length; insert at - to append",
      );
    case "index_not_found":
      return new Problem(
        "index_not_found",
        context.grant.mayRead
          ? `The array's length is ${refusal.length}; indices start at 0`
          : "The array has no element at this index; indices start at 0",
      );
    case "key_exists":
      return new Problem("key_exists", "The object already has this key; replace its value with PUT");
    case "document_too_large":
      return new Problem(
        "document_too_large",
        `The whole value of a root key may have at most ${context.project.limits.maxDocumentBytes} bytes (spec.limits.maxDocumentBytes of the Project); divide it between several root keys`,
      );
    case "quota_exceeded":
      return new Problem("quota_exceeded", "This would exceed the project's quota `bytes`; delete some first");
    case "too_deep":
      return new Problem("too_deep", `A root key's value may be nested at most ${maxDepth} levels deep`);
    case "create_refused":
      // Only the store could see that this PUT adds a key; refuse it as a plain create is refused.
      requirePermission(context.project, context.rootKey.access.create, "create", context.caller);
      return new Problem("insufficient_access", "The caller may replace values here, but not add keys");
    case "not_found":
      return new Problem("not_found", "Nothing is stored at this path of the root key");
    case "changed":
    // It was removed again after it had been initialised.
    case "missing_document":
      return writeConflict("value");
    case "repeated":
      throw new Error("Only a POST with a key can be a repetition");
  }
}
