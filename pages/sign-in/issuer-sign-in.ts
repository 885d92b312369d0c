// Signing in at an external issuer, in the browser: leaves the page for it, and on return exchanges
// the code for a token. What has to outlive the page is in sessionStorage meanwhile, and never a
// token.

import {
  type AuthorizationResponse,
  authorizationUrl,
  checkResponse,
  codeGrant,
  newPendingSignIn,
  type PendingSignIn,
  refusalOf,
} from "./authorization.ts";
import { chooseToken, type TokenAnswer } from "./choose-token.ts";
import { type OfferedIssuer, offeredIssuersId } from "./offered-issuer.ts";

/** A page has left for one issuer at most. */
const storageKey = "jsonplane sign-in";
/** Milliseconds that a token endpoint may take. */
const tokenTimeoutMs = 20_000;

export interface IssuedToken {
  readonly token: string;
  readonly refreshToken?: string;
}

export type Redeemed = IssuedToken | { readonly fault: string };

/** The issuers that this page's project signs people in at. */
export function offeredIssuers(): readonly OfferedIssuer[] {
  const text = document.getElementById(offeredIssuersId)?.textContent;
  return text === undefined ? [] : (JSON.parse(text) as readonly OfferedIssuer[]);
}

/** Leaves the page. Returns why it can't. */
export async function leaveForIssuer(issuer: OfferedIssuer): Promise<string | undefined> {
  if (!isSecureContext) {
    return `To sign in with ${issuer.name}, open this page by its https address: browsers give pages the functions for it there only.`;
  }
  const pending = newPendingSignIn({
    issuer: { name: issuer.name, url: issuer.url },
    redirectUri: thisPage(),
    fragment: location.hash,
  });
  const url = await authorizationUrl(issuer, pending);
  sessionStorage.setItem(storageKey, JSON.stringify(pending));
  // By the browser's Back, the page may come back as it was.
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) sessionStorage.removeItem(storageKey);
  });
  location.assign(url);
  return undefined;
}

/**
 * What an issuer has sent the browser back with; undefined if this page was opened otherwise.
 * Called before anything else: removes it from the page's URL and the browser's history, and its
 * state from sessionStorage.
 */
export function takeResponse(): AuthorizationResponse | undefined {
  const kept = sessionStorage.getItem(storageKey);
  sessionStorage.removeItem(storageKey);
  const parameters = new URLSearchParams(location.search);
  if (!parameters.has("code") && !parameters.has("error")) return undefined;
  const pending = kept === null ? undefined : (JSON.parse(kept) as PendingSignIn);
  history.replaceState(history.state, "", `${location.pathname}${pending?.fragment ?? ""}`);
  return { parameters, page: thisPage(), pending };
}

/** The issuer's token for the code of a response. */
export async function redeem(
  response: AuthorizationResponse,
  issuers: readonly OfferedIssuer[],
): Promise<(IssuedToken & { readonly issuer: OfferedIssuer }) | { readonly fault: string }> {
  const checked = checkResponse(response, issuers);
  if ("fault" in checked) return checked;
  const { issuer, pending, code } = checked;
  const redeemed = await askForToken(issuer, codeGrant(issuer, pending, code), pending.nonce);
  return "fault" in redeemed ? redeemed : { ...redeemed, issuer };
}

/** Another token for the same person. */
export function refreshAt(issuer: OfferedIssuer, refreshToken: string): Promise<Redeemed> {
  const grant = { grant_type: "refresh_token", refresh_token: refreshToken, client_id: issuer.clientId };
  return askForToken(issuer, new URLSearchParams(grant), undefined);
}

async function askForToken(issuer: OfferedIssuer, body: URLSearchParams, nonce: string | undefined): Promise<Redeemed> {
  let response: Response;
  try {
    response = await fetch(issuer.tokenEndpoint, {
      method: "POST",
      body,
      credentials: "omit",
      redirect: "error",
      cache: "no-store",
      signal: AbortSignal.timeout(tokenTimeoutMs),
    });
  } catch {
    // A browser doesn't say which.
    return {
      fault: `The token endpoint of ${issuer.name} can't be reached, or does not allow this page: it has to answer CORS requests of ${location.origin}.`,
    };
  }
  const answer: unknown = await response.json().catch(() => undefined);
  const isObject = typeof answer === "object" && answer !== null;
  if (!response.ok || !isObject) {
    const { error, error_description: description } = (isObject ? answer : {}) as Readonly<Record<string, unknown>>;
    const words = typeof error === "string" ? error : `the token endpoint answered ${response.status}`;
    return { fault: refusalOf(issuer, words, typeof description === "string" ? description : undefined) };
  }
  const chosen = chooseToken(answer as TokenAnswer, issuer, nonce);
  if ("fault" in chosen) return chosen;
  const { refresh_token: refreshToken } = answer as TokenAnswer;
  return { ...chosen, ...(typeof refreshToken === "string" && { refreshToken }) };
}

/** Without query and fragment: the issuer knows it in advance. */
function thisPage(): string {
  return `${location.origin}${location.pathname}`;
}
