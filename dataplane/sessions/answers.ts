// Carries out the session routes, and shapes their answers.

import type { Caller } from "../authenticate/caller.ts";
import type { LiveProject } from "../config/directory.ts";
import { type Answer, created, noContent, ok } from "../http/answer.ts";
import type { Sessions } from "./create-sessions.ts";

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
