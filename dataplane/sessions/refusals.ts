// The problems of logging in, refreshing and ending sessions. Those of credentials are 401 with a
// challenge, and do not say which part was wrong.

import type { ProjectRef, ProjectSettings } from "../../core/config/types.ts";
import { Problem } from "../../core/errors/problem.ts";
import { OutcomeUnknown, type StoreUnavailable } from "../../core/errors/store-errors.ts";
import { challenge, expired, realm, retryAfter } from "../authenticate/refusals.ts";

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

export function refreshTokenExpired(project: ProjectRef): Problem {
  return expired(project, "The refresh token has expired; log in again at /sessions/");
}

/** Without Retry-After: nobody knows when a session ends. */
export function tooManySessions({ sessions }: ProjectSettings): Problem {
  const detail = `The project already has ${sessions.maxPerProject} sessions, its maximum; end one, or wait until one expires`;
  return new Problem("too_many_sessions", detail);
}

export function loginBusy(): Problem {
  return new Problem("login_busy", "Too many logins are being checked; try again in a moment", {
    headers: retryAfter(1),
  });
}

/** `wanted` = what the caller asked for. Read access shows sessions that it may not end. */
export function sessionNotFound(wanted: "see" | "end"): Problem {
  return new Problem("not_found", `No session with this id exists, or the caller may not ${wanted} it`);
}

/** To a caller without a session who asks for its own. */
export function noCurrentSession(kind: "apikey" | "external"): Problem {
  const credential = kind === "apikey" ? "An API key" : "A token of an external issuer";
  return new Problem("not_found", `${credential} has no session; send the access token of a login`);
}

/** `cause` decides whether other replicas may know already. */
export function sessionEndedHere(cause: StoreUnavailable | OutcomeUnknown): Problem {
  const code = cause instanceof OutcomeUnknown ? "outcome_unknown" : "store_unavailable";
  const detail =
    "The store did not accept the end of this session. This server refuses the session's tokens from now on, and ends it " +
    "everywhere once the store accepts writes again";
  return new Problem(code, detail, { headers: retryAfter(1), cause });
}
