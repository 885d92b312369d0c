// Handles requests for sessions: log in, refresh, show and end them; and shows the public keys.

import type { Caller } from "../authenticate/caller.ts";
import type { Authentication } from "../authenticate/create-authentication.ts";
import { authenticationRequired } from "../authorize/authorize.ts";
import type { LiveProject } from "../config/directory.ts";
import { type Answer, created, noContent, ok } from "../http/answer.ts";
import type { Exchange } from "../http/exchange.ts";
import { baseUrl, type LinkDeps, type OperationContext, type SubjectOf } from "../operation/context.ts";
import type { Sessions } from "./create-sessions.ts";

export interface SessionRouteDeps extends LinkDeps {
  readonly authentication: Pick<Authentication, "jwks">;
  readonly sessions: Sessions;
}

export async function handleSession(
  deps: SessionRouteDeps,
  exchange: Exchange,
  operation: OperationContext,
  target: SubjectOf<"session">["target"],
): Promise<Answer> {
  const { authentication, sessions } = deps;
  const { project } = operation.resolved;
  const { headers, ip } = exchange.request;
  switch (target.kind) {
    case "keys":
      return ok(JSON.stringify(authentication.jwks(project)));
    case "refresh":
      return refresh(sessions, project, headers.authorization);
    case "sessions": {
      const url = `${baseUrl(deps, exchange, operation.resolved)}/sessions`;
      if (operation.rule === "public") {
        return login(sessions, project, { authorization: headers.authorization, address: ip, url });
      }
      return listSessions(sessions, project, known(project, operation.caller));
    }
    case "session": {
      const caller = known(project, operation.caller);
      const ends = exchange.request.method === "DELETE";
      return (ends ? endSession : readSession)(sessions, project, caller, target.id);
    }
  }
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
