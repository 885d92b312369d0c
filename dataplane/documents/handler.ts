// Requests for the value of a root key, at any path: decides what is to be done (authorize), then
// reads and writes. The store decides in one atomic step what a path means; its refusals become
// problems here.

import { isDeepStrictEqual } from "node:util";
import type { RootKeyConfig } from "../../core/config/types.ts";
import { Problem } from "../../core/errors/problem.ts";
import type { CanonicalJson } from "../../core/json/canonical.ts";
import { readAt } from "../../core/json/splice.ts";
import { authorizeDocument, type DocumentGrant, requirePermission } from "../authorize/authorize.ts";
import { askedChangesOf } from "../changes/asked.ts";
import { type FollowDeps, followChanges, withPosition } from "../changes/follow.ts";
import { type FollowedSource, sourceOf } from "../changes/sources.ts";
import { valueView } from "../changes/views.ts";
import {
  currentResponse,
  failedPrecondition,
  type Preconditions,
  writtenResponse,
} from "../http/conditional-requests.ts";
import { type HttpResponse, ok } from "../http/exchange.ts";
import { type Patch, patched } from "../http/patch.ts";
import { recordOf, replayed, requireSameBody } from "../operation/idempotency.ts";
import {
  type OperationDeps,
  type OperationPlan,
  type PlanDeps,
  type PlanInput,
  type PlannedRequest,
  planOperation,
  type SubjectOf,
} from "../operation/plan.ts";
import {
  acquireSlot,
  authorizedPreconditions,
  guardWrites,
  type ReceivedWrite,
  receiveWrite,
  writeConflict,
} from "../operation/steps.ts";
import type { WriteLock } from "../operation/write-lock.ts";
import { conflictBudgetMs, pauseAfterConflict } from "../store/conflicts.ts";
import {
  type DocumentRefusal,
  type DocumentWrite,
  type Expected,
  type Expecting,
  maxDepth,
} from "../store/ports/documents.ts";
import { type DocumentRef, documentOf, type Path } from "../store/ports/refs.ts";
import { withInitialValue } from "./initial-value.ts";

export interface DocumentsDeps extends OperationDeps<DocumentPlan>, FollowDeps {
  readonly lock: WriteLock;
}

export interface DocumentPlan extends OperationPlan {
  readonly kind: "document";
  readonly rootKey: RootKeyConfig;
  readonly document: DocumentRef;
  readonly grant: DocumentGrant;
}

export function planDocument(
  deps: PlanDeps,
  input: PlanInput,
  { target, rootKey }: SubjectOf<"document">,
): DocumentPlan {
  const { config } = input.project;
  const plan = planOperation(deps, input, target, rootKey.access.read);
  const grant = authorizeDocument(config, rootKey, plan.operation, input.caller);
  // A patch reveals what is there: by its answer, and by its tests.
  if (input.method === "PATCH") requirePermission(config, rootKey.access.read, "read", input.caller);
  return { kind: "document", ...plan, rootKey, grant, document: documentOf(config, rootKey) };
}

type DocumentRequest = PlannedRequest<DocumentPlan>;

export function carryOutDocument(deps: DocumentsDeps, request: DocumentRequest): Promise<HttpResponse> {
  if (request.plan.isWrite) return write(deps, request);
  const waiting = acquireSlot(deps, request);
  if (waiting === undefined) return readDocument(deps, request);
  return waiting.then(() => deps.decideAgainIfChanged(request)).then((current) => readDocument(deps, current));
}

async function readDocument(deps: DocumentsDeps, request: DocumentRequest): Promise<HttpResponse> {
  const { plan, incoming } = request;
  const asked = askedChangesOf(incoming.request, incoming.rawUrl);
  if (asked !== undefined) {
    return followChanges(deps, request, asked, [
      await sourceOf(deps.decideAgainIfChanged, request, followedValue(request)),
    ]);
  }
  return plan.document.changes === undefined
    ? readValue(request)
    : withPosition(plan.store, plan.document, () => readValue(request));
}

async function readValue(request: DocumentRequest): Promise<HttpResponse> {
  const preconditions = authorizedPreconditions(request);
  const text = await currentText(request.plan, request.subPath);
  if (text === undefined) throw nothingThere();
  return currentResponse(text, preconditions);
}

/** The value at the path is sent first, and then when it differs. */
export function followedValue({ plan, subPath: path }: DocumentRequest): FollowedSource<DocumentPlan> {
  const value = {
    rootKey: plan.rootKey.key,
    path,
    read: async () => ({ text: await currentText(plan, path), seen: await plan.store.newestChange(plan.document) }),
  };
  const view = valueView(value);
  return {
    of: plan.document,
    view,
    isSame: (current) => hasSameRules(plan, current),
    first: async (position) => [view.begin(position, await value.read())],
  };
}

/** A write whose body has arrived, with what its operation needs. */
interface ReadyWrite extends ReceivedWrite {
  readonly request: DocumentRequest;
  readonly plan: DocumentPlan;
  readonly path: Path;
  readonly preconditions: Preconditions | undefined;
  /** The store's writes, each guarded. */
  readonly writes: ReturnType<typeof withInitialValue>;
}

async function write(deps: DocumentsDeps, decided: DocumentRequest): Promise<HttpResponse> {
  const received = await receiveWrite(deps, decided);
  const carryOut = async () => change(readyWrite(deps, received, await deps.decideAgainIfChanged(decided)));
  if (received.patch === undefined && !received.isConditional) return await carryOut();
  const { project, rootKey } = decided.plan;
  const lockPath = [project.config.namespace, project.config.name, rootKey.key, ...decided.subPath];
  // Decided again under the lock: those before it may have taken seconds.
  return await deps.lock.withLock("value", lockPath, carryOut);
}

function readyWrite(deps: DocumentsDeps, received: ReceivedWrite, request: DocumentRequest): ReadyWrite {
  const { plan, subPath: path } = request;
  const preconditions = authorizedPreconditions(request);
  const guarded = guardWrites(deps, request, (current) => hasSameRules(plan, current));
  const writes = withInitialValue(plan.store, plan.rootKey.initialValue, guarded);
  return { ...received, request, plan, path, preconditions, writes };
}

function hasSameRules(plan: DocumentPlan, { rootKey, grant }: DocumentPlan): boolean {
  return isDeepStrictEqual([rootKey, grant], [plan.rootKey, plan.grant]);
}

function change(ready: ReadyWrite): Promise<HttpResponse> {
  const { body, patch } = ready;
  if (body === undefined) return deleteDocument(ready);
  if (patch) return patchDocument(ready, patch);
  return ready.plan.operation === "create" ? insertDocument(ready, body) : putDocument(ready, body);
}

async function insertDocument(ready: ReadyWrite, body: CanonicalJson): Promise<HttpResponse> {
  const { plan, path, writes, idempotencyKey: key } = ready;
  const { project, rootKey, caller, document } = plan;
  const post = key === undefined ? undefined : { project: project.config, uid: rootKey.uid, caller, path, key, body };
  const record = post && recordOf(post, []);
  if (record) {
    const before = await plan.store.idempotencyRecord(document, record.key);
    if (before !== undefined) return replayInsert(before, body);
  }
  const limits = { maxBytes: project.config.limits.maxDocumentBytes, ...(record && { record }) };
  const result = await withPreconditions(ready, (expecting) =>
    writes.insertAt(document, path, body.text, { ...limits, ...expecting }),
  );
  return result.outcome === "repeated" ? replayInsert(result.record, body) : responseOfWrite(result, plan);
}

/** The answer to the first of several equal requests: the value that it sent. */
function replayInsert(record: string, body: CanonicalJson): HttpResponse {
  requireSameBody(record, body);
  return writtenResponse(201, body.text, replayed);
}

async function putDocument(ready: ReadyWrite, body: CanonicalJson): Promise<HttpResponse> {
  const result = await withPreconditions(ready, (expecting) => put(ready, body.text, expecting));
  return responseOfWrite(result, ready.plan);
}

function put({ plan, path, writes }: ReadyWrite, text: string, expecting: Expecting): Promise<DocumentWrite> {
  const limits = { maxBytes: plan.project.config.limits.maxDocumentBytes, mayCreate: plan.grant.mayCreate };
  return writes.putAt(plan.document, path, text, { ...limits, ...expecting });
}

async function patchDocument(ready: ReadyWrite, patch: Patch): Promise<HttpResponse> {
  const { plan, request } = ready;
  const result = await compareAndSet<DocumentWrite>(ready, async (expecting, text) => {
    // Operations need a value; a merge patch makes one, as PUT adds a key.
    if (text === undefined && patch.format === "json-patch") return { outcome: "not_found" };
    // A precondition failed: the store only says how it would refuse, so any value will do.
    if (expecting.expected === "never") return put(ready, "null", expecting);
    const value = await plan.limiter.runFairly(() => patched(patch, text ?? "null"), request.admission.slot);
    return value === text && plan.document.durability === undefined
      ? { outcome: "replaced", text }
      : put(ready, value, expecting);
  });
  return responseOfWrite(result, plan);
}

async function deleteDocument(ready: ReadyWrite): Promise<HttpResponse> {
  const { plan, path, writes } = ready;
  if (leadsTooDeep(path)) throw nothingThere();
  const result = await withPreconditions(ready, (expecting) => writes.removeAt(plan.document, path, expecting));
  if (result.outcome !== "removed") throw problemOf(result, plan);
  return ok("{}");
}

/** No stored value is nested so deep, and the store would follow the path step by step. */
function leadsTooDeep(path: Path): boolean {
  return path.length > maxDepth;
}

function nothingThere(): Problem {
  return new Problem("not_found", "Nothing is stored at this path of the root key");
}

/** Writes under the request's preconditions, if it has any: the step that writes checks them. */
function withPreconditions<T extends { readonly outcome: string }>(
  ready: ReadyWrite,
  write: (expecting: Expecting) => Promise<T>,
): Promise<T> {
  return ready.preconditions === undefined ? write({}) : compareAndSet(ready, write);
}

/**
 * Reads the value, checks it against the preconditions, and writes if it is still there. Only for a
 * request that holds the lock of the path (write-lock.ts).
 */
async function compareAndSet<T extends { readonly outcome: string }>(
  { plan, path, preconditions }: ReadyWrite,
  write: (expecting: Expecting, text: string | undefined) => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + conflictBudgetMs;
  for (let attempt = 0; ; attempt += 1) {
    const text = await currentText(plan, path);
    const failure = failedPrecondition(preconditions, text);
    // RFC 9110 §13.2.1: other refusals come before that of a precondition, and only the store knows
    // them.
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
async function currentText({ store, document, rootKey }: DocumentPlan, path: Path): Promise<string | undefined> {
  if (leadsTooDeep(path)) return undefined;
  const result = await store.readAt(document, path);
  // A read stores nothing: it works with a full store and in a read-only project.
  const found = result.outcome === "missing_document" ? readAt(rootKey.initialValue, path) : result;
  return found.outcome === "found" ? found.text : undefined;
}

function responseOfWrite(result: DocumentWrite, plan: DocumentPlan): HttpResponse {
  if (!("text" in result)) throw problemOf(result, plan);
  return writtenResponse(result.outcome === "created" ? 201 : 200, result.text);
}

export function problemOf(
  refusal: DocumentRefusal,
  plan: Pick<DocumentPlan, "project" | "rootKey" | "grant" | "caller">,
): Problem {
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
        plan.grant.mayRead
          ? `The array's length is ${refusal.length}; insert at an index from 0 to ${refusal.length}, or at - to append`
          : "The index is greater than the array's length; insert at - to append",
      );
    case "index_not_found":
      return new Problem(
        "index_not_found",
        plan.grant.mayRead
          ? `The array's length is ${refusal.length}; indices start at 0`
          : "The array has no element at this index; indices start at 0",
      );
    case "key_exists":
      return new Problem("key_exists", "The object already has this key; replace its value with PUT");
    case "document_too_large":
      return new Problem(
        "document_too_large",
        `The whole value of a root key may have at most ${plan.project.config.limits.maxDocumentBytes} bytes (spec.limits.maxDocumentBytes of the Project); divide it between several root keys`,
      );
    case "quota_exceeded":
      return new Problem("quota_exceeded", "This would exceed the project's quota `bytes`; delete some first");
    case "too_deep":
      return new Problem("too_deep", `A root key's value may be nested at most ${maxDepth} levels deep`);
    case "create_refused":
      // Only the store could see that this PUT adds a key; refuse it as a plain create is refused.
      requirePermission(plan.project.config, plan.rootKey.access.create, "create", plan.caller);
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
