// session.ts: signs a person in and out at the provider, and sends requests for them. Tokens stay
// in memory, so a reload signs out.

import { ErrorResponse, InMemoryWebStorage, type User, UserManager, WebStorageStateStore } from "oidc-client-ts";
import { extraArgs, provider } from "./provider.ts";

/** What a refused request is answered with (RFC 9457). */
export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly errors?: readonly { readonly pointer: string; readonly message: string }[];
}

export class Refused extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.detail);
    this.problem = problem;
  }
}

/** Who is signed in, as the ID token says. */
export interface Person {
  /** At this provider never that of somebody else. */
  readonly sub: string;
  /** To show: it may change, and others may have the same. */
  readonly name: string;
}

/**
 * Where the provider leads back to: a redirect URI that it knows. An app below a path of its origin
 * adds that.
 */
const home = `${location.origin}/`;

const manager = new UserManager({
  ...provider,
  redirect_uri: home,
  post_logout_redirect_uri: home,
  // Tokens. The library's default is sessionStorage.
  userStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
  // Random values of one sign-in, which have to be there when the provider leads back. The default
  // is localStorage.
  stateStore: new WebStorageStateStore({ store: sessionStorage }),
  // Those of a sign-in that was broken off are removed when the page opens again.
  staleStateAgeInSeconds: 0,
  // The default is to renew ahead of time, also without a refresh token: in an invisible frame,
  // where browsers withhold the provider's cookies.
  automaticSilentRenew: false,
  requestTimeoutInSeconds: 10,
});

let user: User | undefined;
let renewing: Promise<void> | undefined;

/** Leaves the page for the provider, which leads back to it. */
export async function signIn(): Promise<void> {
  if (!(await providerAnswers())) throw new TypeError("The provider does not answer");
  await manager.signinRedirect({ ...extraArgs, state: location.pathname + location.search + location.hash });
}

/**
 * Who is signed in now, if the page was opened by the provider. Throws if the provider refuses. To
 * call once, when the page opens.
 */
export async function completeSignIn(): Promise<Person | undefined> {
  const answer = new URLSearchParams(location.search);
  if (!answer.has("state") || !(answer.has("code") || answer.has("error"))) {
    await manager.clearStaleState();
    return undefined;
  }
  const { href } = location;
  // So that neither a reload nor a bookmark has the answer, which counts once.
  history.replaceState(null, "", home);
  user = await manager.signinRedirectCallback(href);
  history.replaceState(null, "", String(user.state));
  const { sub, name, preferred_username, email } = user.profile;
  return { sub, name: name ?? preferred_username ?? email ?? sub };
}

/** What to tell a person who couldn't sign in. */
export function whyNotSignedIn(error: unknown): string {
  // What fetch throws if there is no answer, or none that pages of this origin may read.
  if (error instanceof TypeError) {
    return "The server or the provider can't be reached, or does not allow this page's origin.";
  }
  if (error instanceof Refused) return error.problem.detail;
  if (error instanceof ErrorResponse) return `The provider refused: ${error.error_description ?? error.error}`;
  // biome-ignore lint/suspicious/noConsole: developers find the cause in the console.
  console.error(error);
  return "That did not work. Please sign in again.";
}

/**
 * Forgets the tokens, and ends the session at the provider too, so that the next person has to say
 * who they are. False if that session may go on.
 */
export async function signOut(): Promise<boolean> {
  user = undefined;
  dispatchEvent(new Event("signed-out"));
  try {
    if (!(await providerAnswers())) return false;
    const { revocation_endpoint, end_session_endpoint } = await manager.metadataService.getMetadata();
    if (revocation_endpoint !== undefined) await manager.revokeTokens(["refresh_token"]).catch(() => undefined);
    // Not every provider has such a page.
    if (end_session_endpoint === undefined) return false;
    await manager.signoutRedirect();
    return true;
  } finally {
    await manager.removeUser();
  }
}

/**
 * To ask before the page is left for the provider: if it can't be reached, the browser's error page
 * would take the place of the app.
 */
async function providerAnswers(): Promise<boolean> {
  const options: RequestInit = { cache: "no-store", signal: AbortSignal.timeout(10_000) };
  return await fetch(manager.settings.metadataUrl, options).then(
    ({ ok }) => ok,
    () => false,
  );
}

/**
 * Sends a request with the access token. If that has expired, it is renewed, and the request is
 * sent once more.
 */
export async function send(request: Request): Promise<Response> {
  const used = user;
  const copy = request.clone();
  let response = fromServer(await fetch(withToken(request)));
  if (used !== undefined && (await hasExpired(response)) && (await isRenewed(used))) {
    response = fromServer(await fetch(withToken(copy)));
  }
  // Any other 401 may pass by itself, such as while the issuer's keys change, so it does not end
  // the sign-in.
  if (await hasExpired(response)) await endSignIn();
  return response;
}

async function endSignIn(): Promise<void> {
  if (user === undefined) return;
  user = undefined;
  await manager.removeUser();
  dispatchEvent(new Event("sign-in-expired"));
}

function withToken(request: Request): Request {
  if (user !== undefined) request.headers.set("Authorization", `Bearer ${user.access_token}`);
  return request;
}

async function hasExpired(response: Response): Promise<boolean> {
  if (response.status !== 401) return false;
  const problem = (await response.clone().json()) as Problem;
  return problem.code === "token_expired";
}

/** One renewal for all requests that find the token expired at the same time, or a moment later. */
async function isRenewed(used: User): Promise<boolean> {
  if (user === used) {
    renewing ??= renew(used).finally(() => {
      renewing = undefined;
    });
    await renewing;
  }
  return user !== undefined && user !== used;
}

async function renew(used: User): Promise<void> {
  // Without one, the library would try it in an invisible frame.
  if (used.refresh_token === undefined) return;
  try {
    const fresh = await manager.signinSilent(extraArgs);
    if (user === used && fresh !== null) user = fresh;
    else await manager.removeUser();
  } catch (error) {
    // The refresh token has expired, or was revoked. After another error, such as a lost
    // connection, the next request tries again.
    if (!(error instanceof ErrorResponse)) throw new TypeError("The provider does not answer", { cause: error });
  }
}

/**
 * A proxy in front of the server may answer in its place, with a page of HTML: this becomes a
 * problem as the server's are.
 */
function fromServer(response: Response): Response {
  const { ok, status, headers } = response;
  const expected = ok ? "application/json" : "application/problem+json";
  if (status === 204 || headers.get("Content-Type")?.startsWith(expected)) return response;
  const detail = `A proxy answered in place of the server, with status ${status}. Try again later.`;
  const problem: Problem = { status: ok ? 502 : status, code: "proxy_answer", detail };
  return Response.json(problem, { status: problem.status });
}
