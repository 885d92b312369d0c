// Who has signed in on this page, and the requests that are sent with that credential. It stays in
// this script's memory, in dev mode also in the tab's sessionStorage (dev-mode.ts), and is sent to
// this project's own address only. Other pages of the project that are open in the same browser get
// it, so that a person signs in once; when the last one is closed, it is gone.

import type { Access, Role } from "../../core/config/types.ts";
import type { AuthorizationResponse } from "./authorization.ts";
import { type Kept, keptInTab } from "./dev-mode.ts";
import { redeem, refreshAt } from "./issuer-sign-in.ts";
import { findIssuer, type IssuerIdentity, type OfferedIssuer } from "./offered-issuer.ts";
import { describeRefusal, type Problem, problemOf } from "./problem.ts";

/** What is used of the response of `/whoami`. */
export interface Caller {
  readonly kind: "user" | "apikey" | "external";
  readonly name: string;
  readonly role: Role;
  readonly access: Access;
}

export interface Credential {
  readonly scheme: "apikey" | "bearer";
  /** Value of the Authorization header. */
  readonly authorization: string;
  readonly refreshToken?: string;
  /** The external issuer whose token it is. */
  readonly issuer?: IssuerIdentity;
  readonly caller: Caller;
}

/** Without it a browser answers a Basic challenge with its own dialog, and remembers. */
const omit = { credentials: "omit" } as const;
/** Milliseconds for which a page waits for the answer of another one before it asks the person. */
const answerTimeoutMs = 150;

/** Milliseconds that the end of a session may take. */
const signOutTimeoutMs = 10_000;

type Message =
  | { readonly kind: "who?" }
  /** The answer to that. */
  | { readonly kind: "is signed in"; readonly credential: Credential }
  | { readonly kind: "signed in"; readonly credential: Credential }
  | { readonly kind: "refreshed"; readonly credential: Credential }
  | { readonly kind: "signed out" };

export class SignIn {
  readonly issuers: readonly OfferedIssuer[];
  #credential: Credential | undefined;
  #refreshing: Promise<void> | undefined;
  #isAsking = false;
  /**
   * Nobody is signed in here, and nobody has signed in or out since other pages were asked: their
   * answers count, however late.
   */
  #takesLateAnswer = false;
  #fault: string | undefined;
  readonly #base: URL;
  readonly #kept: Kept<Credential>;
  readonly #channel: BroadcastChannel;
  readonly #listeners = new Set<() => void>();
  readonly #expiryListeners = new Set<() => void>();

  /** `base` = the project's URL, with a final slash; `issuers` = where people may sign in, too. */
  constructor(base: URL, issuers: readonly OfferedIssuer[]) {
    this.#base = base;
    this.#kept = keptInTab(base);
    this.issuers = issuers;
    this.#channel = new BroadcastChannel(`jsonplane ${base.pathname}`);
    this.#channel.addEventListener("message", ({ data }: MessageEvent<Message>) => this.#receive(data));
  }

  get project(): string {
    return projectAt(this.#base);
  }

  get credential(): Credential | undefined {
    return this.#credential;
  }

  /** Why nobody is signed in by the response of an issuer that the page was opened with. */
  get fault(): string | undefined {
    return this.#fault;
  }

  forgetFault(): void {
    this.#fault = undefined;
  }

  /** That is what a page begins with: resolves once it is known who is signed in. */
  async begin(response: AuthorizationResponse | undefined, oneTimeToken?: string): Promise<void> {
    if (response !== undefined) this.#fault = await this.#withIssuer(response);
    if (oneTimeToken !== undefined) this.#fault = await this.#withOneTimeToken(oneTimeToken);
    if (this.#credential === undefined) await this.askOtherPages();
    if (this.#credential === undefined) this.#set(this.#kept.read());
  }

  /** Called whenever somebody has signed in or out, on this page or another one. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Called when the credential has expired and only the person can get another one. */
  onExpiry(listener: () => void): () => void {
    this.#expiryListeners.add(listener);
    return () => this.#expiryListeners.delete(listener);
  }

  /** Resolves once another page has said who is signed in there, or none has. */
  async askOtherPages(): Promise<void> {
    const answered = new Promise<void>((resolve) => {
      const stop = this.onChange(() => {
        stop();
        resolve();
      });
      setTimeout(() => {
        stop();
        resolve();
      }, answerTimeoutMs);
    });
    this.#isAsking = true;
    this.#publish({ kind: "who?" });
    await answered;
    this.#isAsking = false;
    this.#takesLateAnswer = this.#credential === undefined;
  }

  /** `input` is relative to the project's URL. */
  send(input: string | URL, init: RequestInit = {}): Promise<Response> {
    return this.sendRequest(new Request(new URL(input, this.#base), { ...init, ...omit }));
  }

  /**
   * Adds the credential. If its access token has expired, sends the request once more with another
   * token of the same person.
   */
  async sendRequest(request: Request): Promise<Response> {
    const again = request.clone();
    const used = this.#credential;
    authorize(request, used);
    const response = await fetch(request);
    if (used === undefined || !(await isTokenExpired(response))) return response;
    // Another request, or another page, may have got a token meanwhile.
    if (this.#credential?.authorization === used.authorization) await this.#refreshOnce();
    const current = this.#credential;
    if (!isSamePerson(current, used)) return response;
    if (current?.authorization === used.authorization) {
      for (const listener of this.#expiryListeners) listener();
      return response;
    }
    authorize(again, current);
    return fetch(again);
  }

  /** However many requests find out at the same time that the token has expired. */
  #refreshOnce(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  /** Why the key was not accepted; undefined once it is in use. */
  async withKey(key: string): Promise<Problem | undefined> {
    return await this.#use({ scheme: "apikey", authorization: `apikey ${key}` });
  }

  /** Why the user was not logged in; undefined once it is. */
  async withPassword(name: string, password: string): Promise<Problem | undefined> {
    const bytes = new TextEncoder().encode(`${name}:${password}`);
    const basic = btoa(String.fromCharCode(...bytes));
    const headers = { Authorization: `Basic ${basic}` };
    const response = await fetch(new URL("sessions", this.#base), { ...omit, method: "POST", headers });
    if (!response.ok) return await problemOf(response);
    const { access_token, refresh_token } = (await response.json()) as Readonly<Record<string, string>>;
    return await this.#use({
      scheme: "bearer",
      authorization: `bearer ${access_token}`,
      ...(refresh_token !== undefined && { refreshToken: refresh_token }),
    });
  }

  /** Of dev mode's overview. Why it signs nobody in; undefined once it does. */
  async #withOneTimeToken(token: string): Promise<string | undefined> {
    const headers = { Authorization: `Bearer ${token}` };
    const url = new URL("../../-/overview/credential", this.#base);
    try {
      const response = await fetch(url, { ...omit, method: "POST", headers });
      if (!response.ok) return describeRefusal(await problemOf(response));
      const { kind, name, secret } = (await response.json()) as Readonly<Record<"kind" | "name" | "secret", string>>;
      const problem = kind === "login" ? await this.withPassword(name, secret) : await this.withKey(secret);
      return problem && describeRefusal(problem);
    } catch {
      return "The server can't be reached.";
    }
  }

  /** Why the issuer's response signs nobody in; undefined once it does. */
  async #withIssuer(response: AuthorizationResponse): Promise<string | undefined> {
    const redeemed = await redeem(response, this.issuers);
    if ("fault" in redeemed) return redeemed.fault;
    const { token, issuer, refreshToken } = redeemed;
    const made = {
      scheme: "bearer",
      authorization: `bearer ${token}`,
      issuer: { name: issuer.name, url: issuer.url },
      ...(refreshToken !== undefined && { refreshToken }),
    } as const;
    try {
      const problem = await this.#use(made);
      return (
        problem && `You are signed in at ${issuer.name}, but this API refused its token. ${describeRefusal(problem)}`
      );
    } catch {
      return `You are signed in at ${issuer.name}, but this API can't be reached. Sign in again.`;
    }
  }

  /**
   * Drops the credential at once, whether or not the server can be reached; then ends the session
   * there. At an external issuer nothing ends: the person is signed in there for other
   * applications, too.
   */
  async signOut(): Promise<void> {
    const before = this.#credential;
    this.#takesLateAnswer = false;
    this.#set(undefined);
    this.#publish({ kind: "signed out" });
    if (before?.scheme !== "bearer" || before.issuer !== undefined) return;
    const headers = { Authorization: before.authorization };
    const signal = AbortSignal.timeout(signOutTimeoutMs);
    const ended = { ...omit, method: "DELETE", headers, signal, keepalive: true };
    await fetch(new URL("sessions/current", this.#base), ended).catch(() => undefined);
  }

  async #refresh(): Promise<void> {
    const before = this.#credential;
    if (before?.refreshToken === undefined) return;
    if (before.issuer !== undefined) {
      await this.#refreshAtIssuer(before);
      return;
    }
    const headers = { Authorization: `bearer ${before.refreshToken}` };
    const response = await fetch(new URL("sessions/refresh", this.#base), { ...omit, method: "POST", headers });
    if (!response.ok) return;
    const { access_token } = (await response.json()) as { readonly access_token: string };
    // Somebody may have signed in or out while the server answered.
    if (this.#credential !== before) return;
    const credential = { ...before, authorization: `bearer ${access_token}` };
    this.#hold(credential);
    this.#publish({ kind: "refreshed", credential });
  }

  /**
   * One page at a time: many issuers accept a refresh token once, and treat a second use as theft.
   */
  async #refreshAtIssuer({ issuer: identity, authorization }: Credential): Promise<void> {
    const issuer = findIssuer(this.issuers, identity);
    if (issuer === undefined) return;
    await navigator.locks.request(`jsonplane refresh ${this.#base.pathname}`, async () => {
      // The page that had the lock before may have got another token.
      await this.askOtherPages();
      const before = this.#credential;
      if (before?.authorization !== authorization || before.refreshToken === undefined) return;
      const refreshed = await refreshAt(issuer, before.refreshToken);
      if ("fault" in refreshed || this.#credential?.authorization !== authorization) return;
      const { token, refreshToken = before.refreshToken } = refreshed;
      const credential = { ...before, authorization: `bearer ${token}`, refreshToken };
      this.#hold(credential);
      this.#publish({ kind: "refreshed", credential });
    });
  }

  async #use(made: Omit<Credential, "caller">): Promise<Problem | undefined> {
    const headers = { Authorization: made.authorization };
    const response = await fetch(new URL("whoami", this.#base), { ...omit, headers });
    if (!response.ok) return await problemOf(response);
    const credential = { ...made, caller: (await response.json()) as Caller };
    this.#takesLateAnswer = false;
    this.#hold(credential);
    // Also if it is the same person: what was refused before, as after the end of a session, works
    // now.
    this.#notify();
    this.#publish({ kind: "signed in", credential });
    return undefined;
  }

  #receive(message: Message): void {
    const takesAnswer = this.#isAsking || this.#takesLateAnswer;
    if (message.kind !== "who?") this.#takesLateAnswer = false;
    switch (message.kind) {
      case "signed in":
        this.#hold(message.credential);
        this.#notify();
        break;
      case "refreshed":
        this.#set(message.credential);
        break;
      case "is signed in":
        // Otherwise it may be older than what is known by now.
        if (takesAnswer) this.#set(message.credential);
        break;
      case "signed out":
        this.#set(undefined);
        break;
      case "who?":
        if (this.#credential !== undefined) this.#publish({ kind: "is signed in", credential: this.#credential });
        break;
    }
  }

  #set(credential: Credential | undefined): void {
    const before = this.#credential;
    this.#hold(credential);
    // A new token of the same person changes nothing that is shown.
    if (!isSamePerson(before, credential)) this.#notify();
  }

  #hold(credential: Credential | undefined): void {
    this.#credential = credential;
    this.#kept.write(credential);
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  #publish(message: Message): void {
    this.#channel.postMessage(message);
  }
}

/** The project's name from the address, for a visitor: the last segment, or the host. */
function projectAt({ pathname, host }: URL): string {
  const name = pathname.split("/").at(-2) ?? "";
  return name === "" ? host : name;
}

function authorize(request: Request, credential: Credential | undefined): void {
  if (credential !== undefined) request.headers.set("Authorization", credential.authorization);
}

function isSamePerson(one: Credential | undefined, other: Credential | undefined): boolean {
  return one?.caller.name === other?.caller.name && schemeOf(one) === schemeOf(other);
}

/** Name of the security scheme in the project's OpenAPI document. */
export function schemeOf(credential: Credential): string;
export function schemeOf(credential: Credential | undefined): string | undefined;
export function schemeOf(credential: Credential | undefined): string | undefined {
  return credential?.issuer === undefined ? credential?.scheme : `issuer.${credential.issuer.name}`;
}

async function isTokenExpired(response: Response): Promise<boolean> {
  return response.status === 401 && (await problemOf(response.clone())).code === "token_expired";
}
