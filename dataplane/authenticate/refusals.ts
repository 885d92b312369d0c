// The problems of authentication. 401 has the challenge that RFC 9110 requires.
// `invalid_credentials` does not say which part of a credential was wrong, with two exceptions: of
// tokens of an external issuer, whose configuration belongs to the project, and of tokens that the
// project signed under another public URL, it says what to fix.
// `login_throttled` is 429, `project_unavailable` and `project_busy` are 503, all with Retry-After.

import type { ProjectRef } from "../../core/config/types.ts";
import { Problem } from "../../core/errors/problem.ts";

/** Seconds after which a project's configuration, read on demand, is worth another try. */
const unavailableRetrySeconds = 1;

/** No credential was sent: RFC 6750 §3.1 wants the challenge without an error then. */
export function authenticationRequired(project: ProjectRef): Problem {
  return new Problem(
    "authentication_required",
    "Send `Authorization: apikey <API_KEY>` or `Authorization: bearer <ACCESS_TOKEN>`",
    challenge(`Bearer ${realm(project)}, ApiKey ${realm(project)}`),
  );
}

export function invalidCredentials(
  project: ProjectRef,
  detail = "Send `Authorization: apikey <API_KEY>` or `Authorization: bearer <ACCESS_TOKEN>` with a credential of this project",
): Problem {
  return new Problem(
    "invalid_credentials",
    detail,
    challenge(`Bearer ${realm(project)}, error="invalid_token", ApiKey ${realm(project)}`),
  );
}

/** Only for a token whose signature is right: others learn nothing of a project's URL. */
export function tokenOfAnotherUrl(project: ProjectRef): Problem {
  return invalidCredentials(
    project,
    "The token was issued under another public URL of this service (claim iss): log in again; if it happens again, give all replicas the same public URL",
  );
}

export function accessTokenExpired(project: ProjectRef): Problem {
  return expired(project, "The access token has expired; get a new one at /sessions/refresh/ with the refresh token");
}

/** `detail` names neither another project nor a secret. */
export function externalTokenRefused(project: ProjectRef, detail: string): Problem {
  return invalidCredentials(project, detail);
}

export function externalTokenExpired(project: ProjectRef): Problem {
  return expired(project, "The token has expired; get a new one from its issuer");
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

export function verifyingTooMany(): Problem {
  const detail = "Too many tokens of external issuers wait to be verified; try again";
  return new Problem("project_busy", detail, { headers: retryAfter(unavailableRetrySeconds) });
}

export function projectUnavailable(
  detail = "The users and keys of this project can't be looked up; try again",
): Problem {
  return new Problem("project_unavailable", detail, { headers: retryAfter(unavailableRetrySeconds) });
}

export function expired(project: ProjectRef, detail: string): Problem {
  return new Problem(
    "token_expired",
    detail,
    challenge(`Bearer ${realm(project)}, error="invalid_token", error_description="The token has expired"`),
  );
}

export function challenge(value: string): { readonly headers: Readonly<Record<string, string>> } {
  return { headers: { "WWW-Authenticate": value } };
}

/** Namespaces and names are DNS labels: nothing in them needs quoting. */
export function realm(project: ProjectRef): string {
  return `realm="${project.namespace}/${project.name}"`;
}

export function retryAfter(seconds: number): Readonly<Record<string, string>> {
  return { "Retry-After": String(Math.max(1, Math.ceil(seconds))) };
}
