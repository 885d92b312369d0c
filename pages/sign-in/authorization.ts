// The authorization code grant with PKCE (RFC 6749, RFC 7636) of a public client, without the
// browser: the request to an issuer, what is stored until the browser is back, and whether the
// answer belongs to the request.

import { findIssuer, type IssuerIdentity, type OfferedIssuer } from "./offered-issuer.ts";

/** Stored from leaving for an issuer until coming back. */
export interface PendingSignIn {
  readonly issuer: IssuerIdentity;
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** The page that was left, and is to be shown again. */
  readonly redirectUri: string;
  /** What of the page was shown. */
  readonly fragment: string;
}

export function newPendingSignIn(kept: Pick<PendingSignIn, "issuer" | "redirectUri" | "fragment">): PendingSignIn {
  return { ...kept, state: randomText(), nonce: randomText(), verifier: randomText() };
}

/** Where the browser goes. An endpoint's own query stays. */
export async function authorizationUrl(issuer: OfferedIssuer, pending: PendingSignIn): Promise<string> {
  const url = new URL(issuer.authorizationEndpoint);
  const parameters = {
    response_type: "code",
    client_id: issuer.clientId,
    redirect_uri: pending.redirectUri,
    scope: issuer.scopes.join(" "),
    // OpenID Connect Core 1.0, section 11: without it a provider may ignore the request for a
    // refresh token.
    ...(issuer.scopes.includes("offline_access") && { prompt: "consent" }),
    state: pending.state,
    nonce: pending.nonce,
    code_challenge: await challengeOf(pending.verifier),
    code_challenge_method: "S256",
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** What the browser has come back with. */
export interface AuthorizationResponse {
  readonly parameters: URLSearchParams;
  /** The page that it has come back to, without query and fragment. */
  readonly page: string;
  /** Absent if nobody has left this page for an issuer. */
  readonly pending: PendingSignIn | undefined;
}

export type CheckedResponse =
  | { readonly issuer: OfferedIssuer; readonly pending: PendingSignIn; readonly code: string }
  | { readonly fault: string };

export function checkResponse(
  { parameters, page, pending }: AuthorizationResponse,
  issuers: readonly OfferedIssuer[],
): CheckedResponse {
  const issuer = findIssuer(issuers, pending?.issuer);
  // First: nothing else of a response that somebody else has made up is shown or used.
  if (
    issuer === undefined ||
    pending === undefined ||
    page !== pending.redirectUri ||
    !isOnly(pending.state, parameters.getAll("state"))
  ) {
    return { fault: "This page was opened with the answer to a sign-in that it has not begun. Sign in again." };
  }
  const named = parameters.getAll("iss");
  // RFC 9207: another issuer's code must not be sent to this one.
  if ((named.length > 0 || issuer.alwaysSendsIss) && !isOnly(issuer.url, named)) {
    return { fault: `The answer is not from ${issuer.name} (${issuer.url}). Sign in again.` };
  }
  const error = parameters.get("error");
  if (error !== null) return { fault: refusalOf(issuer, error, parameters.get("error_description")) };
  const [code, ...more] = parameters.getAll("code");
  if (code === undefined || code === "" || more.length > 0) {
    return { fault: `${issuer.name} answered without an authorization code. Sign in again.` };
  }
  return { issuer, pending, code };
}

/** Body of the request to the token endpoint. */
export function codeGrant(issuer: OfferedIssuer, pending: PendingSignIn, code: string): URLSearchParams {
  return new URLSearchParams({
    grant_type: "authorization_code",
    code,
    redirect_uri: pending.redirectUri,
    client_id: issuer.clientId,
    code_verifier: pending.verifier,
  });
}

/** Characters of an issuer's own words that are shown. */
const maxWords = 300;

/** `error` and `error_description` of RFC 6749, of either endpoint. */
export function refusalOf({ name }: OfferedIssuer, error: string, description: string | null | undefined): string {
  const words = [error, description].filter(Boolean).join(": ");
  return `${name} refused: ${words.length > maxWords ? `${words.slice(0, maxWords)}…` : words}`;
}

function isOnly(value: string, given: readonly string[]): boolean {
  return given.length === 1 && given[0] === value;
}

/** 256 bits, in 43 of the characters that a code verifier may have. */
function randomText(): string {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

async function challengeOf(verifier: string): Promise<string> {
  return base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier))));
}

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}
