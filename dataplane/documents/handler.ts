// Acts on the value of a root key, at any path: authorize, read and validate, then perform.

import { authorizeDocument, demandReadToo } from "../authorize/authorize.ts";
import type { Answer } from "../http/answer.ts";
import type { Exchange } from "../http/exchange.ts";
import { admittedBody, noBody, present } from "../operation/body.ts";
import { type Act, admittedPreconditions, type OperationDeps, type SubjectOf } from "../operation/context.ts";
import { beginWork } from "../operation/work.ts";
import { isWrite } from "../route/targets.ts";
import {
  type DocumentDeps,
  type DocumentScene,
  deleteDocument,
  insertDocument,
  patchDocument,
  putDocument,
  readDocument,
} from "./reads-and-writes.ts";

export type DocumentsDeps = OperationDeps & DocumentDeps;

export async function onDocument(
  deps: DocumentsDeps,
  exchange: Exchange,
  act: Act,
  { target, rootKey }: SubjectOf<"document">,
): Promise<Answer> {
  const { config } = act.place.project;
  if (act.rule === "own" || act.rule === "public") throw new Error("A document route has no operation");
  const grant = authorizeDocument(config, rootKey, act.rule, act.caller);
  const document = { project: config, rootKey: rootKey.key };
  const preconditions = admittedPreconditions(exchange, act, rootKey.access.read);
  const { path } = target;
  const scene: DocumentScene = { project: config, rootKey, document, path, caller: act.caller, grant, preconditions };
  // A patch tells what is there: by its answer, and by its tests.
  if (exchange.request.method === "PATCH") demandReadToo(config, rootKey.access.read, act.caller);
  const { body, patch, idempotencyKey } = isWrite(act.rule) ? await admittedBody(deps, exchange, act) : noBody;
  // Of a read and a patch the store knows it; a write answers with what was sent, and a deletion with next to nothing.
  const answerLength = act.rule === "read" || patch ? undefined : (body?.text.length ?? 0);
  const waiting = beginWork(deps, exchange, act, answerLength);
  if (waiting !== undefined) await waiting;
  if (act.rule === "read") return readDocument(deps.store, scene);
  if (act.rule === "delete") return deleteDocument(deps, scene);
  if (patch) return patchDocument(deps, scene, patch);
  if (act.rule === "create") return insertDocument(deps, scene, present(body), idempotencyKey);
  return putDocument(deps, scene, present(body));
}
