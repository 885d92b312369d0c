// Which of an issuer's tokens the API is sent: the access token if the project accepts it, else the
// id_token if it accepts that one. The API verifies it; here it is only read, to say what has to be
// set where neither is accepted.

import type { OfferedIssuer } from "./offered-issuer.ts";

/** What is used of the answer of a token endpoint (RFC 6749, OpenID Connect Core 1.0). */
export interface TokenAnswer {
  readonly access_token?: unknown;
  readonly id_token?: unknown;
  readonly refresh_token?: unknown;
}

export type ChosenToken = { readonly token: string } | { readonly fault: string };

/**
 * `nonce` of the request; undefined where a token was refreshed, without a request of the browser.
 */
export function chooseToken(answer: TokenAnswer, issuer: OfferedIssuer, nonce: string | undefined): ChosenToken {
  const { access_token: access, id_token: identity } = answer;
  // Also if the access token is sent: an id_token of another sign-in means that the code is of
  // another one.
  if (nonce !== undefined && identity !== undefined && claimsOf(identity)?.nonce !== nonce) {
    return { fault: `The id_token of ${issuer.name} is not for this sign-in (nonce). Sign in again.` };
  }
  for (const token of [access, identity]) {
    if (typeof token === "string" && mismatchOf(token, issuer) === undefined) return { token };
  }
  return { fault: describeMismatch(answer, issuer) };
}

function describeMismatch({ access_token: access, id_token: identity }: TokenAnswer, issuer: OfferedIssuer): string {
  const { name, audiences } = issuer;
  return (
    `You are signed in at ${name}, but neither of its tokens is for this API, which takes tokens for ${audiences.join(" or ")}. ` +
    `The access token ${mismatchOf(access, issuer)}; the id_token ${mismatchOf(identity, issuer)}. ` +
    `Let ${name} make tokens for ${audiences.length === 1 ? "it" : "one of them"}, or add what they are for to issuer.audiences ` +
    `of ${name} in the Project.`
  );
}

/** Why the project doesn't take it, as far as it can be seen here; undefined where it may. */
function mismatchOf(token: unknown, { url, audiences }: OfferedIssuer): string | undefined {
  if (token === undefined) return "is missing";
  const claims = claimsOf(token);
  if (claims === undefined) return "is not a JSON Web Token";
  if (claims.iss !== url) return `is from ${shown(claims.iss)} instead of ${url}`;
  const audience = Array.isArray(claims.aud) ? (claims.aud as readonly unknown[]) : [claims.aud];
  return audience.some((each) => audiences.some((taken) => taken === each))
    ? undefined
    : `is for ${audience.map(shown).join(", ")}`;
}

function shown(claim: unknown): string {
  if (claim === undefined) return "nobody";
  return typeof claim === "string" ? claim : JSON.stringify(claim);
}

/** The payload of a signed JSON Web Token; undefined of anything else. */
function claimsOf(token: unknown): Readonly<Record<string, unknown>> | undefined {
  if (typeof token !== "string") return undefined;
  const [, payload, signature, ...others] = token.split(".");
  if (payload === undefined || signature === undefined || others.length > 0) return undefined;
  try {
    const bytes = Uint8Array.from(atob(payload.replaceAll("-", "+").replaceAll("_", "/")), (each) =>
      each.charCodeAt(0),
    );
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof claims === "object" && claims !== null ? (claims as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}
