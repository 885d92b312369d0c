// Takes a request's part in its project's share of the replica, and gives it back.

import type { Work } from "../admission/fair-share.ts";
import type { Exchange } from "../http/exchange.ts";
import { isWrite } from "../route/route.ts";
import { maxObjectBytes, type OperationContext, type OperationDeps } from "./context.ts";
import { requireData } from "./data-loss.ts";

const readUnits = 1;
const writeUnits = 2;
const usualBytes = 1024 * 1024;

/**
 * Takes the request's part in its project's share; a promise when it has to wait for that. From here on nothing is waited for
 * that the client decides, so a slow client holds no share. Refuses with `data_lost`. `answerLength` = characters of the answer, where that
 * is known already.
 */
export function beginWork(
  deps: OperationDeps,
  exchange: Exchange,
  operation: OperationContext,
  answerLength?: number,
): Promise<void> | undefined {
  const begun = (work: Work): void => {
    exchange.work = work;
    // They may have been lost while the body arrived, for as long as the client likes, or while this waited for its share.
    requireData(deps.directory, operation.resolved.project);
  };
  const { limits } = operation.resolved.project.config;
  // Where values may be larger than usual, fewer are under way before their sizes are known.
  const largest = Math.max(limits.maxDocumentBytes, limits.maxBodyBytes, maxObjectBytes(limits));
  const units = (isWrite(operation.rule) ? writeUnits : readUnits) * Math.max(1, Math.ceil(largest / usualBytes));
  const work = deps.fairShare.of(operation.resolved.project).begin(units, answerLength);
  if (work instanceof Promise) return work.then(begun);
  begun(work);
  return undefined;
}

/** `length` = characters of the answer, if there is one. Does nothing for a request that has no work under way, or none any more. */
export function endWork(exchange: Exchange, length: number | undefined): void {
  const { work } = exchange;
  exchange.work = undefined;
  work?.end(length);
}
