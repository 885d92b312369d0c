// session.ts: signs a person in and out, and sends requests for them. Tokens stay in this module,
// so a reload signs out.

import { base } from "./base.ts";

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

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

let tokens: Tokens | undefined;
let refreshing: Promise<void> | undefined;

/** Throws Refused if the name or the password is wrong. */
export async function signIn(name: string, password: string): Promise<void> {
  // btoa takes bytes: a name or a password may have other letters than those of ASCII.
  const bytes = new TextEncoder().encode(`${name}:${password}`);
  tokens = await post<Tokens>("/sessions", `Basic ${btoa(String.fromCharCode(...bytes))}`);
}

/**
 * What to tell a person who couldn't sign in. The detail of a problem is written for people who
 * write clients.
 */
export function whyNotSignedIn(error: unknown): string {
  // What fetch throws if there is no answer, or none that pages of this origin may read.
  if (error instanceof TypeError) {
    return "The server can't be reached, or does not allow this page's origin (cors.allowedOrigins).";
  }
  if (!(error instanceof Refused)) throw error;
  const { code, detail } = error.problem;
  if (code === "invalid_credentials") return "The name or the password is wrong.";
  if (code === "login_throttled") return "Too many attempts. Try again later.";
  return detail;
}

/**
 * Ends the session: its tokens are refused from then on, also those that somebody may have copied.
 */
export async function signOut(): Promise<void> {
  try {
    await send(new Request(`${base}/sessions/current`, { method: "DELETE" }));
  } finally {
    forget();
  }
}

/**
 * Sends a request with the access token. If that has expired, it is refreshed, and the request is
 * sent once more.
 */
export async function send(request: Request): Promise<Response> {
  const used = tokens;
  const copy = request.clone();
  let response = fromServer(await fetch(withToken(request)));
  if (used !== undefined && (await hasExpired(response))) {
    await refresh(used);
    response = fromServer(await fetch(withToken(copy)));
  }
  // The session was ended, or the person may no longer sign in.
  if (response.status === 401) forget();
  return response;
}

function withToken(request: Request): Request {
  if (tokens !== undefined) request.headers.set("Authorization", `bearer ${tokens.access_token}`);
  return request;
}

async function hasExpired(response: Response): Promise<boolean> {
  if (response.status !== 401) return false;
  const problem = (await response.clone().json()) as Problem;
  return problem.code === "token_expired";
}

/** One refresh for all requests that find the token expired at the same time, or a moment later. */
async function refresh(used: Tokens): Promise<void> {
  if (tokens !== used) return;
  refreshing ??= getAccessToken(used).finally(() => {
    refreshing = undefined;
  });
  await refreshing;
}

async function getAccessToken(used: Tokens): Promise<void> {
  try {
    const fresh = await post<Pick<Tokens, "access_token">>("/sessions/refresh", `Bearer ${used.refresh_token}`);
    if (tokens === used) tokens = { ...used, ...fresh };
  } catch (error) {
    // The refresh token has expired too. After another error, such as a lost connection, the
    // session may go on.
    if (error instanceof Refused && error.problem.status === 401) forget();
    throw error;
  }
}

async function post<T>(path: string, authorization: string): Promise<T> {
  const headers = { Authorization: authorization };
  const response = fromServer(await fetch(base + path, { method: "POST", headers }));
  if (!response.ok) throw new Refused((await response.json()) as Problem);
  return (await response.json()) as T;
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

function forget(): void {
  if (tokens === undefined) return;
  tokens = undefined;
  dispatchEvent(new Event("signed-out"));
}
