// What a request follows, and whether its caller may still read it.

import { errorCatalogue } from "../../core/errors/catalogue.ts";
import { Problem } from "../../core/errors/problem.ts";
import type { LiveProject } from "../config/directory.ts";
import type { PlanBase, PlannedRequest } from "../operation/plan.ts";
import type { LoggedRef, LogPosition } from "../store/ports/changes.ts";
import type { ChangeEvent, ResetReason } from "./events.ts";
import type { View } from "./views.ts";

/** A source as its feature describes it. */
export interface FollowedSource<Plan> {
  readonly of: LoggedRef;
  readonly view: View;
  /**
   * The first events of a stream, which say what is stored now. The stream goes on behind
   * `position`, the newest one. Absent where it begins behind the client's. Throws `not_found`.
   */
  readonly first?: (position: LogPosition, isResumed: boolean) => Promise<readonly ChangeEvent[]>;
  /** Whether the caller still sees the same by a later plan. */
  isSame(current: Plan): boolean;
}

export interface Source extends Omit<FollowedSource<never>, "isSame"> {
  /**
   * Whether the caller may still read this, and the same part of it. Throws Problem where the
   * request would be refused by now. A promise only where something changed.
   */
  isStillAllowed(): boolean | Promise<boolean>;
  /** Milliseconds of Unix time at which the credential expires. */
  expiresAt(): number;
  /** As configured now. */
  project(): LiveProject;
}

/**
 * The same request unless something changed since it was decided. Throws Problem where it is
 * refused by now.
 */
export type DecideAgain<Plan> = (request: PlannedRequest<Plan>) => PlannedRequest<Plan> | Promise<PlannedRequest<Plan>>;

/** A user's stream outlives the access token, so the request is decided again for the session. */
export async function sourceOf<Plan extends PlanBase>(
  decideAgain: DecideAgain<Plan>,
  request: PlannedRequest<Plan>,
  { isSame, ...followed }: FollowedSource<Plan>,
): Promise<Source> {
  let current = request;
  if (request.plan.caller.kind === "user") {
    const incoming = { ...request.incoming, outlivesToken: true };
    current = await decideAgain({ ...request, incoming, generation: Number.NaN });
  }
  const accept = (next: PlannedRequest<Plan>): boolean => {
    if (!isSame(next.plan)) return false;
    current = next;
    return true;
  };
  return {
    ...followed,
    isStillAllowed() {
      const next = decideAgain(current);
      if (next instanceof Promise) return next.then(accept);
      return next === current || accept(next);
    },
    project: () => current.plan.project,
    expiresAt: () => current.proof?.validUntil ?? Number.POSITIVE_INFINITY,
  };
}

/**
 * Why a stream is reset whose source threw this. Undefined where that says nothing of what its
 * caller may read: the client goes on from its position.
 */
export function resetReasonOf(error: unknown): ResetReason | undefined {
  if (!(error instanceof Problem) || error.code === "token_expired") return undefined;
  if (error.code === "data_lost") return "lost";
  if (error.code.startsWith("unknown_")) return "deleted";
  const { status } = errorCatalogue[error.code];
  return status === 401 || status === 403 || error.code === "project_off" ? "access" : undefined;
}
