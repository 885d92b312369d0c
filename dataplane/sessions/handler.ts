// Acts on sessions: log in, refresh, look at them, end them; and shows the public keys.

import type { Authentication } from "../authenticate/authentication.ts";
import type { Caller } from "../authenticate/caller.ts";
import { authenticationRequired } from "../authorize/authorize.ts";
import type { LiveProject } from "../config/directory.ts";
import { type Answer, ok } from "../http/answer.ts";
import type { Exchange } from "../http/exchange.ts";
import { type Act, baseUrl, type LinkDeps, type SubjectOf } from "../operation/context.ts";
import { endSession, listSessions, login, readSession, refresh } from "./answers.ts";
import type { Sessions } from "./create-sessions.ts";

export interface SessionRouteDeps extends LinkDeps {
  readonly authentication: Pick<Authentication, "jwks">;
  readonly sessions: Sessions;
}

export async function onSession(
  deps: SessionRouteDeps,
  exchange: Exchange,
  act: Act,
  target: SubjectOf<"session">["target"],
): Promise<Answer> {
  const { authentication, sessions } = deps;
  const { project } = act.place;
  const { headers, ip } = exchange.request;
  switch (target.kind) {
    case "keys":
      return ok(JSON.stringify(authentication.jwks(project)));
    case "refresh":
      return refresh(sessions, project, headers.authorization);
    case "sessions": {
      const url = `${baseUrl(deps, exchange, act.place)}/sessions`;
      if (act.rule === "public") {
        return login(sessions, project, { authorization: headers.authorization, address: ip, url });
      }
      return listSessions(sessions, project, known(project, act.caller));
    }
    case "session": {
      const caller = known(project, act.caller);
      const ends = exchange.request.method === "DELETE";
      return (ends ? endSession : readSession)(sessions, project, caller, target.id);
    }
  }
}

function known(project: LiveProject, caller: Caller): Caller {
  if (caller.kind === "anonymous") throw authenticationRequired(project.config);
  return caller;
}
