// Who has signed in on this page, and the requests that are sent with that credential. It stays in this script's memory, and goes to this
// project's own address and nowhere else. Another page of the project that is open in the same browser is told of it, so that a person
// signs in once; when the last one is closed, it is gone.

import { type Problem, problemOf } from "./problem.ts";

/** What is used of the response of `/whoami`. */
export interface Caller {
  readonly name: string;
}

export interface Credential {
  readonly scheme: "apikey" | "bearer";
  /** Value of the Authorization header. */
  readonly authorization: string;
  readonly refreshToken?: string;
  readonly caller: Caller;
}

/** Without it a browser answers a Basic challenge with a dialog of its own, and remembers what is entered there. */
const omit = { credentials: "omit" } as const;
/** Milliseconds that another page has to answer. */
const answerTimeoutMs = 150;

/** Milliseconds that the end of a session may take. */
const signOutTimeoutMs = 10_000;

type Message =
  | { readonly kind: "who?" }
  | { readonly kind: "signed in"; readonly credential: Credential }
  | { readonly kind: "signed out" };

export class SignIn {
  #credential: Credential | undefined;
  #refreshing: Promise<void> | undefined;
  readonly #base: URL;
  readonly #channel: BroadcastChannel;
  readonly #listeners = new Set<() => void>();

  /** `base` = the project's URL, with a slash at its end. */
  constructor(base: URL) {
    this.#base = base;
    this.#channel = new BroadcastChannel(`jsonplane ${base.pathname}`);
    this.#channel.addEventListener("message", ({ data }: MessageEvent<Message>) => this.#receive(data));
  }

  get credential(): Credential | undefined {
    return this.#credential;
  }

  /** Called whenever somebody has signed in or out, on this page or another one. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
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
    this.#publish({ kind: "who?" });
    await answered;
  }

  /** `input` is relative to the project's URL. */
  send(input: string | URL, init: RequestInit = {}): Promise<Response> {
    return this.sendRequest(new Request(new URL(input, this.#base), { ...init, ...omit }));
  }

  /** Adds the credential. Where its access token has expired, sends the request once more with another token of the same person. */
  async sendRequest(request: Request): Promise<Response> {
    const again = request.clone();
    const used = this.#credential;
    authorize(request, used);
    const response = await fetch(request);
    if (used === undefined || !(await isTokenExpired(response))) return response;
    // Another request, or another page, may have got a token meanwhile.
    if (this.#credential?.authorization === used.authorization) await this.#refreshOnce();
    const current = this.#credential;
    if (!isSamePerson(current, used) || current?.authorization === used.authorization) return response;
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

  /** Forgets the credential at once, whether or not the server can be reached; then ends the session there. */
  async signOut(): Promise<void> {
    const before = this.#credential;
    this.#set(undefined);
    this.#publish({ kind: "signed out" });
    if (before?.scheme !== "bearer") return;
    const headers = { Authorization: before.authorization };
    const signal = AbortSignal.timeout(signOutTimeoutMs);
    const ended = { ...omit, method: "DELETE", headers, signal, keepalive: true };
    await fetch(new URL("sessions/current", this.#base), ended).catch(() => undefined);
  }

  async #refresh(): Promise<void> {
    const before = this.#credential;
    if (before?.refreshToken === undefined) return;
    const headers = { Authorization: `bearer ${before.refreshToken}` };
    const response = await fetch(new URL("sessions/refresh", this.#base), { ...omit, method: "POST", headers });
    if (!response.ok) return;
    const { access_token } = (await response.json()) as { readonly access_token: string };
    // Somebody may have signed in or out while the server answered.
    if (this.#credential !== before) return;
    this.#credential = { ...before, authorization: `bearer ${access_token}` };
    this.#publish({ kind: "signed in", credential: this.#credential });
  }

  async #use(made: Omit<Credential, "caller">): Promise<Problem | undefined> {
    const headers = { Authorization: made.authorization };
    const response = await fetch(new URL("whoami", this.#base), { ...omit, headers });
    if (!response.ok) return await problemOf(response);
    const credential = { ...made, caller: (await response.json()) as Caller };
    this.#credential = credential;
    // Also if it is the same person: what was refused before, as after the end of a session, works now.
    this.#notify();
    this.#publish({ kind: "signed in", credential });
    return undefined;
  }

  #receive(message: Message): void {
    if (message.kind === "signed in") this.#set(message.credential);
    else if (message.kind === "signed out") this.#set(undefined);
    else if (this.#credential !== undefined) this.#publish({ kind: "signed in", credential: this.#credential });
  }

  #set(credential: Credential | undefined): void {
    const before = this.#credential;
    this.#credential = credential;
    // A new token of the same person changes nothing that is shown.
    if (!isSamePerson(before, credential)) this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  #publish(message: Message): void {
    this.#channel.postMessage(message);
  }
}

function authorize(request: Request, credential: Credential | undefined): void {
  if (credential !== undefined) request.headers.set("Authorization", credential.authorization);
}

function isSamePerson(one: Credential | undefined, other: Credential | undefined): boolean {
  return one?.caller.name === other?.caller.name && one?.scheme === other?.scheme;
}

async function isTokenExpired(response: Response): Promise<boolean> {
  return response.status === 401 && (await problemOf(response.clone())).code === "token_expired";
}
