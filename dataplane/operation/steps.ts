// Steps of a request that is allowed, before and after the store is asked: it reads its preconditions, receives its body, of which nothing is
// read before it has a slot of its project's fair share of the replica, and releases that. Refuses with `data_lost` while the store no
// longer has the data that it had (docs/adr/0039).

import { isDeepStrictEqual } from "node:util";
import { Problem } from "../../core/errors/problem.ts";
import type { CanonicalJson } from "../../core/json/canonical.ts";
import { requirePermission } from "../authorize/authorize.ts";
import type { Directory } from "../config/directory.ts";
import { type Preconditions, preconditionsOf } from "../http/conditional-requests.ts";
import type { Exchange } from "../http/exchange.ts";
import { bodyDepth, type Patch, patchFormatOf, readPatch } from "../http/patch.ts";
import { parseBody, receiveBody } from "../http/read-body.ts";
import { idempotencyKeyOf } from "./idempotency.ts";
import type { OperationDeps, OperationPlan, RenewPlan } from "./plan.ts";

/** What a write sends: a DELETE nothing, every other one a body. */
export interface SentBody {
  readonly body?: CanonicalJson;
  /** The body of a PATCH, read. */
  readonly patch?: Patch | undefined;
  readonly idempotencyKey?: string | undefined;
}

export interface ReceivedWrite<Plan> extends SentBody {
  readonly plan: Plan;
}

/** The request's preconditions. Refuses a caller who may not read: each 412 would show whether a guess at what is stored is right. */
export function authorizedPreconditions(plan: OperationPlan, exchange: Exchange): Preconditions | undefined {
  const preconditions = preconditionsOf(exchange.request.headers);
  if (preconditions !== undefined) {
    requirePermission(plan.project.config, plan.readPermission, "read", plan.caller);
  }
  return preconditions;
}

/**
 * Charges an anonymous write, receives the body of a write that has one, acquires a slot of a weight that follows from its length, and only
 * then reads it. Only for a caller who is known to be allowed. All this takes as long as its client and other requests like: the plan that
 * comes with it is the one to go by from here on.
 */
export async function receiveWrite<Plan extends OperationPlan>(
  deps: OperationDeps,
  decided: Plan,
  exchange: Exchange,
  renewPlan: RenewPlan,
): Promise<ReceivedWrite<Plan>> {
  // A write that may not send preconditions is refused here, before its body arrives; they are read again for the plan that it has by then.
  authorizedPreconditions(decided, exchange);
  const { project, operation, caller, returnsBody } = decided;
  const { raw, headers } = exchange.request;
  // `ip` goes through the trusted proxies each time it is read, about 1 % of a create: so only where it counts.
  if (caller.kind === "anonymous") await deps.anonymousWrites.spend(project.config, exchange.request.ip);
  const format = raw.method === "PATCH" ? patchFormatOf(raw) : undefined;
  const sentKey = operation === "create" ? headers["idempotency-key"] : undefined;
  const idempotencyKey = sentKey === undefined ? undefined : idempotencyKeyOf(headers);
  const received =
    operation === "delete"
      ? undefined
      : await receiveBody(project.config.limits.maxBodyBytes, {
          memory: deps.bodyBudget.of(project),
          message: raw,
          refused: exchange.bodyRefused,
          sendContinue: exchange.sendContinue,
        });
  if (received !== undefined) exchange.releaseBody = received.release;
  const current = await renewPlan(decided, exchange);
  const lengths = { bodyLength: received?.bytes.length, responseLength: returnsBody ? 0 : undefined };
  const plan = await acquireSlot(deps, current, exchange, { renewPlan, ...lengths });
  if (received === undefined) return { plan };
  const { slot } = exchange;
  const body = await parseBody(received.bytes, plan.limiter, slot, format && bodyDepth(format));
  const patch = format && (await plan.limiter.inTurn(() => readPatch(format, body), slot));
  return { plan: await renewPlan(plan, exchange), body, patch, idempotencyKey };
}

/** Decides a write again, if anything has changed. Throws the refusal that it would get now. */
export type Recheck = () => void | Promise<void>;

/**
 * To be called right before a write. Throws `project_busy` if the project, its limits or the caller is
 * another by now, or if `isSame` says false.
 */
export function recheckOf<Plan extends OperationPlan>(
  plan: Plan,
  exchange: Exchange,
  renewPlan: RenewPlan,
  isSame: (current: Plan) => boolean,
): Recheck {
  const requireSame = (current: Plan): void => {
    if (!isDeepStrictEqual(identityOf(current), identityOf(plan)) || !isSame(current)) throw changedMeanwhile();
  };
  return () => {
    const renewed = renewPlan(plan, exchange);
    if (renewed instanceof Promise) return renewed.then(requireSame);
    if (renewed !== plan) requireSame(renewed);
  };
}

function identityOf({ caller, project: { config } }: OperationPlan): readonly unknown[] {
  return [config.uid, config.limits, caller];
}

export function changedMeanwhile(): Problem {
  const detail = "The project has changed while the request waited, and nothing was written; try again";
  return new Problem("project_busy", detail, { headers: { "Retry-After": "1" } });
}

/**
 * Acquires a slot of the project's fair share; a promise when it has to wait for one. Answers with the plan to go by from here on, decided again
 * after a wait. From here on nothing depends on how fast the client sends, so a slow client holds no slot. Refuses with `data_lost`.
 * `bodyLength` = bytes of its body; `responseLength` = characters of the response beyond those of its body, where that is known already.
 */
export function acquireSlot<Plan extends OperationPlan>(
  { directory }: Pick<OperationDeps, "directory">,
  plan: Plan,
  exchange: Exchange,
  {
    renewPlan,
    bodyLength,
    responseLength,
  }: {
    readonly renewPlan: RenewPlan;
    readonly bodyLength?: number | undefined;
    readonly responseLength?: number | undefined;
  },
): Plan | Promise<Plan> {
  const slot = plan.limiter.acquire(plan.baseWeight, responseLength, bodyLength);
  if (slot instanceof Promise) {
    return slot.then((acquired) => {
      exchange.slot = acquired;
      requireDataNotLost(directory);
      return renewPlan(plan, exchange);
    });
  }
  exchange.slot = slot;
  // They may have been lost while the body arrived, for as long as the client likes, or while this waited for a slot.
  requireDataNotLost(directory);
  return plan;
}

/** `length` = characters of the response, if there is one. Does nothing for a request without a slot, or whose slot was released. */
export function releaseSlot(exchange: Exchange, length: number | undefined): void {
  const { slot } = exchange;
  exchange.slot = undefined;
  slot?.release(length);
}

type Losses = Pick<Directory, "dataLost">;

/** Throws `data_lost` before anything is done. */
export function requireDataNotLost(losses: Losses): void {
  if (losses.dataLost()) throw dataLost("The store has lost its data; nothing was done.");
}

/**
 * Throws `data_lost` once the store has answered: of the calls that a request makes, the later ones may have been answered by an empty
 * store, so that a list ends early, or an object that was there is not found.
 */
export function requireNoLossMeanwhile(losses: Losses): void {
  if (losses.dataLost()) {
    throw dataLost("The store lost its data during the request, including anything that the request wrote.");
  }
}

function dataLost(what: string): Problem {
  const detail = `${what} Whoever operates the cluster has to restore the data or accept the loss`;
  return new Problem("data_lost", detail, { headers: { "Retry-After": "60" } });
}
