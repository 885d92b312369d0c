// The problems that authentication answers with, each 401 with the challenge that RFC 9110 asks for. Bodies of one code
// are one and the same, so that nobody learns which part of a credential was wrong.

import type { ProjectConfig, ProjectRef } from "../../core/config/types.ts";
import { Problem } from "../../core/errors/problem.ts";
import { OutcomeUnknown, type StoreUnavailable } from "../../core/errors/store-errors.ts";

/** Seconds after which a project's configuration, read on demand, is worth another try. */
const unavailableRetrySeconds = 1;

/** No credential was sent where one is needed: RFC 6750 §3.1 wants the challenge bare then, without an error. */
export function authenticationRequired(project: ProjectRef): Problem {
  return new Problem(
    "authentication_required",
    "Send `Authorization: apikey <API_KEY>` or `Authorization: bearer <ACCESS_TOKEN>`",
    challenge(`Bearer ${realm(project)}, ApiKey ${realm(project)}`),
  );
}

export function loginRequired(project: ProjectRef): Problem {
  return new Problem(
    "authentication_required",
    "Send `Authorization: Basic` with the base64 of `username:password`",
    challenge(`Basic ${realm(project)}, charset="UTF-8"`),
  );
}

export function refreshTokenRequired(project: ProjectRef): Problem {
  return new Problem(
    "authentication_required",
    "Send `Authorization: bearer <REFRESH_TOKEN>`",
    challenge(`Bearer ${realm(project)}`),
  );
}

export function invalidCredentials(project: ProjectRef): Problem {
  return new Problem(
    "invalid_credentials",
    "Send `Authorization: apikey <API_KEY>` or `Authorization: bearer <ACCESS_TOKEN>` with a credential of this project",
    challenge(`Bearer ${realm(project)}, error="invalid_token", ApiKey ${realm(project)}`),
  );
}

export function invalidLogin(project: ProjectRef): Problem {
  return new Problem(
    "invalid_credentials",
    "Send `Authorization: Basic` with the base64 of a user name of this project, a colon and the password",
    challenge(`Basic ${realm(project)}, charset="UTF-8"`),
  );
}

export function invalidRefreshToken(project: ProjectRef): Problem {
  return new Problem(
    "invalid_credentials",
    "Log in again at /sessions/ and send `Authorization: bearer <REFRESH_TOKEN>`",
    challenge(`Bearer ${realm(project)}, error="invalid_token"`),
  );
}

export function accessTokenExpired(project: ProjectRef): Problem {
  return expired(project, "The access token has expired; get a new one at /sessions/refresh/ with the refresh token");
}

export function refreshTokenExpired(project: ProjectRef): Problem {
  return expired(project, "The refresh token has expired; log in again at /sessions/");
}

export function keyExpired(project: ProjectRef): Problem {
  return new Problem(
    "token_expired",
    "The API key has expired; ask for a new one",
    challenge(`ApiKey ${realm(project)}`),
  );
}

export function loginThrottled(retryAfterSeconds: number): Problem {
  return new Problem("login_throttled", "Too many logins failed; wait as long as Retry-After says, then try again", {
    headers: retryAfter(retryAfterSeconds),
  });
}

/** Without Retry-After: nobody knows when a session ends. */
export function tooManySessions({ sessions }: ProjectConfig): Problem {
  const detail = `The project already has ${sessions.maxPerProject} sessions, its maximum; end one, or wait until one expires`;
  return new Problem("too_many_sessions", detail);
}

export function loginBusy(): Problem {
  return new Problem("login_busy", "Too many logins are being checked; try again in a moment", {
    headers: retryAfter(1),
  });
}

export function projectUnavailable(
  detail = "The users and keys of this project can't be looked up; try again",
): Problem {
  return new Problem("project_unavailable", detail, { headers: retryAfter(unavailableRetrySeconds) });
}

export function sessionNotFound(): Problem {
  return new Problem("not_found", "No session with this id exists, or the caller may not see it");
}

/** `cause` decides whether other replicas may know already. */
export function sessionEndedHere(cause: StoreUnavailable | OutcomeUnknown): Problem {
  const code = cause instanceof OutcomeUnknown ? "outcome_unknown" : "store_unavailable";
  const detail =
    "The store did not accept the end of this session. This server refuses the session's tokens from now on, and ends it " +
    "everywhere once the store accepts writes again";
  return new Problem(code, detail, { headers: retryAfter(1), cause });
}

function expired(project: ProjectRef, detail: string): Problem {
  return new Problem(
    "token_expired",
    detail,
    challenge(`Bearer ${realm(project)}, error="invalid_token", error_description="The token has expired"`),
  );
}

function challenge(value: string): { readonly headers: Readonly<Record<string, string>> } {
  return { headers: { "WWW-Authenticate": value } };
}

/** Namespaces and names are DNS labels: nothing in them needs quoting. */
function realm(project: ProjectRef): string {
  return `realm="${project.namespace}/${project.name}"`;
}

function retryAfter(seconds: number): Readonly<Record<string, string>> {
  return { "Retry-After": String(Math.max(1, Math.ceil(seconds))) };
}
