// Handles requests for sessions: log in, refresh, show and end them; and shows the public keys.

import type { Caller } from "../authenticate/caller.ts";
import type { Authentication } from "../authenticate/create-authentication.ts";
import { authenticationRequired } from "../authenticate/refusals.ts";
import type { LiveProject } from "../config/directory.ts";
import { type Answer, created, noContent, ok } from "../http/answer.ts";
import type { Exchange } from "../http/exchange.ts";
import type { Asked, PlanBase, SubjectOf } from "../operation/plan.ts";
import type { Sessions } from "./create-sessions.ts";

export interface SessionRouteDeps {
  readonly authentication: Pick<Authentication, "jwks">;
  readonly sessions: Sessions;
}

export interface SessionPlan extends PlanBase {
  readonly kind: "session";
  readonly operation: Asked["operation"];
  readonly target: SubjectOf<"session">["target"]["kind"];
  /** Absolute URL of `/sessions`. */
  readonly url: string;
}

export function planSession(asked: Asked, { target }: SubjectOf<"session">): SessionPlan {
  const { project, operation, caller, base } = asked;
  const url = `${base}/sessions`;
  return { kind: "session", project, caller, isWrite: false, isStored: false, operation, target: target.kind, url };
}

export async function carryOutSession(deps: SessionRouteDeps, plan: SessionPlan, exchange: Exchange): Promise<Answer> {
  const { authentication, sessions } = deps;
  const { project, url } = plan;
  const { headers, ip, method } = exchange.request;
  switch (plan.target) {
    case "keys":
      return ok(JSON.stringify(authentication.jwks(project)));
    case "refresh":
      return refresh(sessions, project, headers.authorization);
    case "sessions":
      if (plan.operation === "public") {
        return login(sessions, project, { authorization: headers.authorization, address: ip, url });
      }
      return listSessions(sessions, project, known(project, plan.caller));
    case "session": {
      const caller = known(project, plan.caller);
      return (method === "DELETE" ? endSession : readSession)(sessions, project, caller, idOf(exchange));
    }
  }
}

function idOf({ target }: Exchange): string {
  if (target?.kind !== "session") throw new Error("A request for one session names none");
  return target.id;
}

function known(project: LiveProject, caller: Caller): Caller {
  if (caller.kind === "anonymous") throw authenticationRequired(project.config);
  return caller;
}

export interface LoginRequest {
  readonly authorization: string | undefined;
  readonly address: string;
  /** Absolute URL of `/sessions`. */
  readonly url: string;
}

export async function login(sessions: Sessions, project: LiveProject, request: LoginRequest): Promise<Answer> {
  const session = await sessions.login(project, request.authorization, request.address);
  const location = `${request.url}/${session.session_id}`;
  return { ...created(JSON.stringify(session), { Location: location }), secret: true };
}

export async function refresh(
  sessions: Sessions,
  project: LiveProject,
  authorization: string | undefined,
): Promise<Answer> {
  return { ...ok(JSON.stringify(await sessions.refresh(project, authorization))), secret: true };
}

export async function listSessions(sessions: Sessions, project: LiveProject, caller: Caller): Promise<Answer> {
  const items = await sessions.sessions(project, caller);
  return ok(JSON.stringify({ count: items.length, items }));
}

export async function readSession(
  sessions: Sessions,
  project: LiveProject,
  caller: Caller,
  id: string,
): Promise<Answer> {
  return ok(JSON.stringify(await sessions.session(project, caller, id)));
}

export async function endSession(
  sessions: Sessions,
  project: LiveProject,
  caller: Caller,
  id: string,
): Promise<Answer> {
  await sessions.endSession(project, caller, id);
  return noContent;
}
