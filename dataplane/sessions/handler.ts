// Requests for sessions: log in, refresh, show and end them; and for who the caller is and the
// public keys.

import type { Access, Role } from "../../core/config/types.ts";
import type { FairShareLimiter } from "../admission/fair-share.ts";
import { type Caller, creatorOf } from "../authenticate/caller.ts";
import { type Authentication, noCredential, type Proof } from "../authenticate/create-authentication.ts";
import { skewSeconds } from "../authenticate/external/grant.ts";
import { type HttpResponse, noContent, ok } from "../http/exchange.ts";
import type { PlanBase, PlanInput, PlannedRequest, SubjectOf } from "../operation/plan.ts";
import type { Sessions } from "./create-sessions.ts";
import { noCurrentSession } from "./refusals.ts";

export interface SessionRouteDeps {
  readonly authentication: Pick<Authentication, "jwks">;
  readonly sessions: Sessions;
  readonly fairShare: FairShareLimiter;
}

/** Weight (fair-share.ts) of a list of all sessions of the project, up to 10,000 of them. */
const listWeight = 8;
/** Weight of a list of a user's own sessions. */
const ownListWeight = 2;

/** In place of a session's id. Ids are UUIDs. */
const currentSession = "current";

export interface SessionPlan extends PlanBase {
  readonly kind: "session";
  readonly operation: PlanInput["operation"];
  readonly target: SubjectOf<"session">["target"];
  /** Absolute URL of `/sessions`. */
  readonly url: string;
}

export function planSession(input: PlanInput, { target }: SubjectOf<"session">): SessionPlan {
  const { project, operation, caller, base } = input;
  const url = `${base}/sessions`;
  return { kind: "session", project, caller, isWrite: false, usesStoredData: false, operation, target, url };
}

export async function carryOutSession(
  deps: SessionRouteDeps,
  { plan, incoming, proof, admission }: PlannedRequest<SessionPlan>,
): Promise<HttpResponse> {
  const { authentication, sessions, fairShare } = deps;
  const { project, caller, url, target } = plan;
  const { headers, ip, method } = incoming.request;
  switch (target.kind) {
    case "keys":
      return ok(JSON.stringify(authentication.jwks(project)));
    case "refresh":
      return { ...ok(JSON.stringify(await sessions.refresh(project, headers.authorization))), secret: true };
    case "sessions": {
      if (plan.operation === "public") {
        const session = await sessions.login(project, headers.authorization, ip);
        const location = { Location: `${url}/${session.session_id}` };
        return { status: 201, text: JSON.stringify(session), headers: location, secret: true };
      }
      // An anonymous caller is refused immediately, and need not wait for that.
      if (caller.kind !== "anonymous") {
        const weight = caller.role === "Administrators" ? listWeight : ownListWeight;
        // The length counts as known: responses with sessions say nothing about reads of stored
        // data.
        admission.slot = await fairShare.of(project).acquire(weight, 0);
      }
      const items = await sessions.sessions(project, caller);
      return ok(JSON.stringify({ count: items.length, items }));
    }
    case "whoami":
      return ok(JSON.stringify(describeCaller(proof ?? noCredential)));
    case "session": {
      const id = idOf(target.id, caller);
      if (method !== "DELETE") return ok(JSON.stringify(await sessions.session(project, caller, id)));
      await sessions.endSession(project, caller, id);
      return noContent;
    }
  }
}

function idOf(named: string, caller: Caller): string {
  if (named !== currentSession || caller.kind === "anonymous") return named;
  if (caller.kind === "user") return caller.sessionId;
  throw noCurrentSession(caller.kind);
}

/** `kind` and `name` are `creator_type` and `creator` in `_metadata` of the caller's objects. */
interface CallerView {
  readonly kind: Caller["kind"];
  readonly name: string;
  /** Name of the external issuer, with which `name` begins. */
  readonly issuer?: string;
  readonly role?: Role;
  readonly access?: Access;
  /** Unix seconds at which the credential expires. */
  readonly expires?: number;
  readonly session_id?: string;
}

function describeCaller({ caller, validUntil }: Pick<Proof, "caller" | "validUntil">): CallerView {
  const { kind } = caller;
  const name = creatorOf(caller);
  if (kind === "anonymous") return { kind, name };
  const { role, access } = caller;
  // Clients renew a token by the time in it, without the tolerance for clocks.
  const skew = kind === "external" ? skewSeconds : 0;
  return {
    kind,
    name,
    ...(kind === "external" && { issuer: caller.issuer }),
    role,
    access,
    ...(Number.isFinite(validUntil) && { expires: Math.floor(validUntil / 1000) - skew }),
    ...(kind === "user" && { session_id: caller.sessionId }),
  };
}
