// Who has signed in on this page, and the requests that are sent with that credential. It stays in this script's memory, and goes to this
// project's own address and nowhere else. Another page of the project that is open in the same browser is told of it, so that a person
// signs in once; when the last one is closed, it is gone.

/** As `/whoami` has it. */
export interface Caller {
  readonly kind: string;
  readonly name: string;
  readonly role?: string;
  readonly access?: string;
}

export interface Credential {
  readonly scheme: "apikey" | "bearer";
  /** Value of the Authorization header. */
  readonly authorization: string;
  readonly refreshToken?: string;
  readonly caller: Caller;
}

/** What a refused request answered (RFC 9457). */
export interface Problem {
  readonly status: number;
  readonly title: string;
  readonly detail?: string;
  readonly code?: string;
  readonly errors?: readonly { readonly pointer: string; readonly message: string }[];
}

/** Without it a browser answers a Basic challenge with a dialog of its own, and remembers what is entered there. */
const omit = { credentials: "omit" } as const;
/** Milliseconds that another page has to answer. */
const patience = 150;

type Message =
  | { readonly kind: "who?" }
  | { readonly kind: "signed in"; readonly credential: Credential }
  | { readonly kind: "signed out" };

export class SignIn {
  #credential: Credential | undefined;
  #refreshing: Promise<boolean> | undefined;
  readonly #base: URL;
  readonly #channel: BroadcastChannel;
  readonly #listeners = new Set<() => void>();

  /** `base` = the project's URL, with a slash at its end. */
  constructor(base: URL) {
    this.#base = base;
    this.#channel = new BroadcastChannel(`jsonplane ${base.pathname}`);
    this.#channel.addEventListener("message", ({ data }: MessageEvent<Message>) => this.#hear(data));
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
      }, patience);
    });
    this.#tell({ kind: "who?" });
    await answered;
  }

  /** `input` is relative to the project's URL. */
  send(input: string | URL, init: RequestInit = {}): Promise<Response> {
    return this.sendRequest(new Request(new URL(input, this.#base), { ...init, ...omit }));
  }

  /** Adds the credential; an access token that has expired is replaced once. */
  async sendRequest(request: Request): Promise<Response> {
    const again = request.clone();
    this.#authorize(request);
    const response = await fetch(request);
    if (response.status !== 401 || !(await this.refresh())) return response;
    this.#authorize(again);
    return fetch(again);
  }

  /** True once there is a new access token, however many ask at the same time. */
  refresh(): Promise<boolean> {
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

  /** Ends the session as well, if the server can be reached. */
  async signOut(): Promise<void> {
    const isUser = this.#credential?.scheme === "bearer";
    if (isUser) await this.send("sessions/current", { method: "DELETE" }).catch(() => undefined);
    this.#set(undefined);
    this.#tell({ kind: "signed out" });
  }

  #authorize(request: Request): void {
    if (this.#credential !== undefined) request.headers.set("Authorization", this.#credential.authorization);
  }

  async #refresh(): Promise<boolean> {
    const { refreshToken } = this.#credential ?? {};
    if (refreshToken === undefined) return false;
    const headers = { Authorization: `bearer ${refreshToken}` };
    const response = await fetch(new URL("sessions/refresh", this.#base), { ...omit, method: "POST", headers });
    const credential = this.#credential;
    if (!response.ok || credential === undefined) return false;
    const { access_token } = (await response.json()) as { readonly access_token: string };
    this.#credential = { ...credential, authorization: `bearer ${access_token}` };
    this.#tell({ kind: "signed in", credential: this.#credential });
    return true;
  }

  async #use(made: Omit<Credential, "caller">): Promise<Problem | undefined> {
    const headers = { Authorization: made.authorization };
    const response = await fetch(new URL("whoami", this.#base), { ...omit, headers });
    if (!response.ok) return await problemOf(response);
    const credential = { ...made, caller: (await response.json()) as Caller };
    this.#set(credential);
    this.#tell({ kind: "signed in", credential });
    return undefined;
  }

  #hear(message: Message): void {
    if (message.kind === "signed in") this.#set(message.credential);
    else if (message.kind === "signed out") this.#set(undefined);
    else if (this.#credential !== undefined) this.#tell({ kind: "signed in", credential: this.#credential });
  }

  #set(credential: Credential | undefined): void {
    const before = this.#credential;
    this.#credential = credential;
    // A new token of the same person changes nothing that is shown.
    if (before?.caller.name === credential?.caller.name && before?.scheme === credential?.scheme) return;
    for (const listener of this.#listeners) listener();
  }

  #tell(message: Message): void {
    this.#channel.postMessage(message);
  }
}

/** Of a response that is not ok. */
export async function problemOf(response: Response): Promise<Problem> {
  const { status, statusText } = response;
  try {
    return (await response.json()) as Problem;
  } catch {
    // A proxy in front of the service answers in its own words.
    return { status, title: statusText === "" ? `The server answered ${status}` : statusText };
  }
}
