// Handles requests for the value of a root key, at any path: authorize, read and validate, then ask the store.

import { authorizeDocument, requireReadToo } from "../authorize/authorize.ts";
import type { Answer } from "../http/answer.ts";
import type { Exchange } from "../http/exchange.ts";
import { admittedBody, noBody, present } from "../operation/body.ts";
import {
  admittedPreconditions,
  type OperationContext,
  type OperationDeps,
  type SubjectOf,
} from "../operation/context.ts";
import { beginWork } from "../operation/work.ts";
import { isWrite } from "../route/route.ts";
import {
  type DocumentContext,
  type DocumentDeps,
  deleteDocument,
  insertDocument,
  patchDocument,
  putDocument,
  readDocument,
} from "./reads-and-writes.ts";

export type DocumentsDeps = OperationDeps & DocumentDeps;

export async function handleDocument(
  deps: DocumentsDeps,
  exchange: Exchange,
  operation: OperationContext,
  { target, rootKey }: SubjectOf<"document">,
): Promise<Answer> {
  const { config } = operation.resolved.project;
  if (operation.rule === "own" || operation.rule === "public") throw new Error("A document route has no operation");
  const grant = authorizeDocument(config, rootKey, operation.rule, operation.caller);
  const document = { project: config, rootKey: rootKey.key };
  const preconditions = admittedPreconditions(exchange, operation, rootKey.access.read);
  const { path } = target;
  const context: DocumentContext = {
    project: config,
    rootKey,
    document,
    path,
    caller: operation.caller,
    grant,
    preconditions,
  };
  // A patch tells what is there: by its answer, and by its tests.
  if (exchange.request.method === "PATCH") requireReadToo(config, rootKey.access.read, operation.caller);
  const { body, patch, idempotencyKey } = isWrite(operation.rule)
    ? await admittedBody(deps, exchange, operation)
    : noBody;
  // Of a read and a patch the store knows it; a write answers with what was sent, and a deletion with next to nothing.
  const answerLength = operation.rule === "read" || patch ? undefined : (body?.text.length ?? 0);
  const waiting = beginWork(deps, exchange, operation, answerLength);
  if (waiting !== undefined) await waiting;
  if (operation.rule === "read") return readDocument(deps.store, context);
  if (operation.rule === "delete") return deleteDocument(deps, context);
  if (patch) return patchDocument(deps, context, patch);
  if (operation.rule === "create") return insertDocument(deps, context, present(body), idempotencyKey);
  return putDocument(deps, context, present(body));
}
