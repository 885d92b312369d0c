// Steps of a request that is allowed, before and after the store is asked: preconditions, body,
// slot of the project's fair share, and their release. No body is parsed before the request has a
// slot. Refuses with `data_lost` while the store no longer has its data (docs/adr/0039).

import { isDeepStrictEqual } from "node:util";
import { Problem } from "../../core/errors/problem.ts";
import type { CanonicalJson } from "../../core/json/canonical.ts";
import { requirePermission } from "../authorize/authorize.ts";
import type { Directory } from "../config/directory.ts";
import { type Preconditions, preconditionsOf } from "../http/conditional-requests.ts";
import { bodyDepth, type Patch, patchFormatOf, readPatch } from "../http/patch.ts";
import { parseBody, receiveBody } from "../http/read-body.ts";
import { idempotencyKeyOf } from "./idempotency.ts";
import type { Admission, OperationDeps, OperationPlan, PlannedRequest } from "./plan.ts";

/** What a write sent. A DELETE has no body, every other write has one. */
export interface ReceivedWrite {
  /** Whether it has preconditions. */
  readonly isConditional: boolean;
  readonly body?: CanonicalJson;
  /** The body of a PATCH, read. */
  readonly patch?: Patch | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** Refuses a caller who may not read: each 412 would show whether a guess is right. */
export function authorizedPreconditions({ plan, incoming }: PlannedRequest<OperationPlan>): Preconditions | undefined {
  const preconditions = preconditionsOf(incoming.request.headers);
  if (preconditions !== undefined) {
    requirePermission(plan.project.config, plan.readPermission, "read", plan.caller);
  }
  return preconditions;
}

/**
 * Charges an anonymous write, receives the body, acquires a slot of a weight that follows from its
 * length, and parses it. This may take seconds: decide the request again before the store is asked.
 */
export async function receiveWrite(
  deps: Omit<OperationDeps<OperationPlan>, "decideAgainIfChanged">,
  request: PlannedRequest<OperationPlan>,
): Promise<ReceivedWrite> {
  // Refuses forbidden preconditions before the body arrives. The features read them again later.
  const isConditional = authorizedPreconditions(request) !== undefined;
  const { incoming, admission } = request;
  const { project, operation, caller, returnsBody, limiter } = request.plan;
  const { raw, headers } = incoming.request;
  // Reading `ip` goes through the trusted proxies each time, which is 1 % of a create.
  if (caller.kind === "anonymous") await deps.anonymousWrites.spend(project.config, incoming.request.ip);
  const format = raw.method === "PATCH" ? patchFormatOf(raw) : undefined;
  const sentKey = operation === "create" ? headers["idempotency-key"] : undefined;
  const idempotencyKey = sentKey === undefined ? undefined : idempotencyKeyOf(headers);
  const received =
    operation === "delete"
      ? undefined
      : await receiveBody(project.config.limits.maxBodyBytes, deps.bodyBudget.of(project), incoming);
  admission.releaseBody = received?.release;
  await acquireSlot(deps, request, received?.bytes.length, returnsBody ? 0 : undefined);
  if (received === undefined) return { isConditional };
  const { slot } = admission;
  const body = await parseBody(received.bytes, limiter, slot, format && bodyDepth(format));
  const patch = format && (await limiter.runFairly(() => readPatch(format, body), slot));
  return { isConditional, body, patch, idempotencyKey };
}

/**
 * Acquires a slot of the project's fair share; a promise when it has to wait for one: decide the
 * request again then. Throws `data_lost`. `bodyLength` = bytes; `responseLength` = characters of
 * the response beyond those of the body, where that is known.
 */
export function acquireSlot(
  { directory }: { readonly directory: Losses },
  { plan, admission }: PlannedRequest<OperationPlan>,
  bodyLength?: number,
  responseLength?: number,
): Promise<void> | undefined {
  const slot = plan.limiter.acquire(plan.baseWeight, responseLength, bodyLength);
  if (slot instanceof Promise) {
    return slot.then((acquired) => {
      admission.slot = acquired;
      requireDataNotLost(directory);
    });
  }
  admission.slot = slot;
  // They may have been lost while the body arrived.
  requireDataNotLost(directory);
  return undefined;
}

/** `length` = characters of the response, if there is one. Without a slot it does nothing. */
export function releaseSlot(admission: Admission, length: number | undefined): void {
  const { slot } = admission;
  admission.slot = undefined;
  slot?.release(length);
}

/** Carries out a write, unless the request would be refused by now: then it throws the refusal. */
export type GuardedWrite = <T>(write: () => Promise<T>) => Promise<T>;

/**
 * For the store's writes: decides again directly before each. Throws `project_busy` if the project,
 * its limits or the caller changed, or `isSame` is false.
 */
export function guardWrites<Plan extends OperationPlan>(
  { decideAgainIfChanged }: Pick<OperationDeps<Plan>, "decideAgainIfChanged">,
  request: PlannedRequest<Plan>,
  isSame: (current: Plan) => boolean,
): GuardedWrite {
  let checked = request;
  const requireSame = (current: PlannedRequest<Plan>): void => {
    const isSameIdentity = isDeepStrictEqual(identityOf(current.plan), identityOf(request.plan));
    if (!isSameIdentity || !isSame(current.plan)) throw changedMeanwhile();
    checked = current;
  };
  return (write) => {
    const current = decideAgainIfChanged(checked);
    return current === checked ? write() : Promise.resolve(current).then(requireSame).then(write);
  };
}

function identityOf({ caller, project: { config } }: OperationPlan): readonly unknown[] {
  return [config.uid, config.limits, caller];
}

export function changedMeanwhile(): Problem {
  const detail = "The project has changed while the request waited, and nothing was written; try again";
  return new Problem("project_busy", detail, { headers: { "Retry-After": "1" } });
}

type Losses = Pick<Directory, "dataLost">;

/** Throws `data_lost` before anything is done. */
export function requireDataNotLost(losses: Losses): void {
  if (losses.dataLost()) throw dataLost("The store has lost its data; nothing was done.");
}

/** Throws `data_lost` once the store has answered. */
export function requireNoLossMeanwhile(losses: Losses): void {
  if (losses.dataLost()) throw dataLostMeanwhile();
}

/** An empty store may have answered: then a list ended early, or an object was not found. */
export function dataLostMeanwhile(): Problem {
  return dataLost("The store lost its data during the request, including anything that the request wrote.");
}

function dataLost(what: string): Problem {
  const detail = `${what} Whoever operates the cluster has to restore the data or accept the loss`;
  return new Problem("data_lost", detail, { headers: { "Retry-After": "60" } });
}

export function writeConflict(what: "object" | "value"): Problem {
  return new Problem("write_conflict", `Too many other writes changed this ${what} at the same time; try again`, {
    headers: { "Retry-After": "1" },
  });
}
