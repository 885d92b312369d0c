// Carries out the session routes by asking authentication, and shapes their answers.

import type { Authentication } from "../authenticate/authentication.ts";
import type { Caller } from "../authenticate/caller.ts";
import type { LiveProject } from "../config/directory.ts";
import { type Answer, created, noContent, ok } from "../respond/answer.ts";

export interface LoginRequest {
  readonly authorization: string | undefined;
  readonly address: string;
  /** Absolute URL of `/sessions`. */
  readonly url: string;
}

export async function login(
  authentication: Authentication,
  project: LiveProject,
  request: LoginRequest,
): Promise<Answer> {
  const session = await authentication.login(project, request.authorization, request.address);
  const location = `${request.url}/${session.session_id}`;
  return { ...created(JSON.stringify(session), { Location: location }), secret: true };
}

export async function refresh(
  authentication: Authentication,
  project: LiveProject,
  authorization: string | undefined,
): Promise<Answer> {
  return { ...ok(JSON.stringify(await authentication.refresh(project, authorization))), secret: true };
}

export async function listSessions(
  authentication: Authentication,
  project: LiveProject,
  caller: Caller,
): Promise<Answer> {
  const items = await authentication.sessions(project, caller);
  return ok(JSON.stringify({ count: items.length, items }));
}

export async function readSession(
  authentication: Authentication,
  project: LiveProject,
  caller: Caller,
  id: string,
): Promise<Answer> {
  return ok(JSON.stringify(await authentication.session(project, caller, id)));
}

export async function endSession(
  authentication: Authentication,
  project: LiveProject,
  caller: Caller,
  id: string,
): Promise<Answer> {
  await authentication.endSession(project, caller, id);
  return noContent;
}
