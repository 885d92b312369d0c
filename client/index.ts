// The door of @jsonplane/client: `createClient<Api>({ url })`, and what it speaks of.

import type {
  ApiShape,
  CheckedApi,
  RequestOptions,
  ResourceName,
  ResourceOf,
  RootKeyName,
  UntypedApi,
  WhoAmI,
} from "./api.ts";
import { apiKeyCredentials, type Credentials, type TokenSource, tokenCredentials } from "./credentials.ts";
import { type ClientCode, Problem } from "./problem.ts";
import { Requests } from "./requests.ts";
import { Resource } from "./resource.ts";
import { RootKey } from "./root-key.ts";
import { memoryStorage, Session, type TokenStorage } from "./session.ts";

export interface ClientOptions {
  /** The project's, such as `https://api.example.org/my-namespace/my-project`. */
  readonly url: string;
  /** For programs. What is in a page, everybody can read. */
  readonly apiKey?: string | undefined;
  /** Gets a token of an external issuer; by default, people sign in with `signIn`. */
  readonly token?: TokenSource | undefined;
  /** Where the tokens of `signIn` are kept, such as `localStorage`; by default until a reload. */
  readonly storage?: TokenStorage | undefined;
  /** How often a request is sent again where that does no harm, within 30 s; 10 by default. */
  readonly maxRetries?: number | undefined;
  /** How long one answer may take; 15,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** In place of the global one. */
  readonly fetch?: typeof fetch | undefined;
  /** In place of `JSON.parse`, such as one that keeps integers beyond 2^53. */
  readonly parseJson?: ((text: string) => unknown) | undefined;
}

export interface RawRequest extends RequestOptions {
  readonly method?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
}

export class Client<A extends ApiShape = UntypedApi> {
  readonly #requests: Requests;
  readonly #session: Session;
  /** Of objects that were read. */
  readonly #etags = new WeakMap<object, string>();

  constructor(options: ClientOptions) {
    const { storage = memoryStorage(), maxRetries = 10, timeoutMs = 15_000, parseJson = JSON.parse } = options;
    const url = options.url.replace(/\/+$/, "");
    const send: typeof fetch = options.fetch ?? ((input, init) => fetch(input, init));
    this.#session = new Session(storage, url, async (call, authorization) => {
      return (await this.#requests.send(call, authorization)).data;
    });
    this.#requests = new Requests(
      { url, fetch: send, parseJson, maxRetries, timeoutMs },
      credentialsOf(options, this.#session),
    );
  }

  resource<Name extends ResourceName<A>>(name: Name): Resource<ResourceOf<A, Name>> {
    return new Resource(this.#requests, this.#etags, name);
  }

  rootKey<Name extends RootKeyName<A>>(name: Name): RootKey<A["rootKeys"][Name]> {
    return new RootKey(this.#requests, name);
  }

  /** Throws `invalid_credentials` or `login_throttled`. The session is refreshed by itself. */
  async signIn(who: { readonly username: string; readonly password: string }, options?: RequestOptions): Promise<void> {
    await this.#session.signIn(who.username, who.password, options?.signal);
  }

  /**
   * Ends the session everywhere, and forgets it here in any case. Throws where the server can't be
   * told: then its tokens are accepted until they expire.
   */
  async signOut({ signal }: RequestOptions = {}): Promise<void> {
    if (!this.#session.isSignedIn) return;
    try {
      const call = { method: "DELETE", path: "/sessions/current", signal, isRepeatable: true };
      await this.#requests.send(call);
    } catch (error) {
      // It has ended already.
      if (!(error instanceof Problem) || error.status !== 401) throw error;
    } finally {
      this.#session.forget();
    }
  }

  /** Whether there is a session as far as this client knows; the server may have ended it. */
  get isSignedIn(): boolean {
    return this.#session.isSignedIn;
  }

  /** Calls back when somebody has signed in or out, also in another tab. Returns what ends that. */
  onAuthStateChange(listener: (isSignedIn: boolean) => void): () => void {
    return this.#session.onChange(listener);
  }

  async whoAmI({ signal }: RequestOptions = {}): Promise<WhoAmI> {
    return (await this.#requests.send({ path: "/whoami", signal })).data as WhoAmI;
  }

  /** For `ifMatch`: the tag of an object that was read, written, followed, or listed with etags. */
  etagOf(object: object): string | undefined {
    return this.#etags.get(object);
  }

  /** Whether it is what the server refused, with this code if one is given. */
  isProblem<Code extends A["problems"] | ClientCode = A["problems"] | ClientCode>(
    error: unknown,
    code?: Code,
  ): error is Problem<Code> {
    return error instanceof Problem && (code === undefined || error.code === code);
  }

  /**
   * Anything else, such as a list as CSV: sends it once, with the credential. The path is below the
   * project's URL. Throws Problem unless the status is a success.
   */
  async request(path: string, request: RawRequest = {}): Promise<Response> {
    return await this.#requests.open({ path, ...request }).catch((error: unknown) => {
      request.signal?.throwIfAborted();
      throw error;
    });
  }
}

/** The type parameter says what the project has: `jsonplane types` writes it. */
export function createClient<A extends CheckedApi<A> = UntypedApi>(options: ClientOptions): Client<A> {
  return new Client<A>(options);
}

function credentialsOf({ apiKey, token }: ClientOptions, session: Session): Credentials {
  if (token !== undefined) return tokenCredentials(token);
  return apiKey === undefined ? session : apiKeyCredentials(apiKey);
}

export type {
  ApiShape,
  CreateOptions,
  IncrementOptions,
  ListQuery,
  LiveQuery,
  Page,
  PageQuery,
  RequestOptions,
  ResourceChange,
  ResourceShape,
  RetryOptions,
  UntypedApi,
  ValueCount,
  WatchOptions,
  WatchQuery,
  WhoAmI,
  WriteOptions,
} from "./api.ts";
export type { TokenSource } from "./credentials.ts";
export type { LiveList } from "./live-list.ts";
export { Problem } from "./problem.ts";
export type { Resource } from "./resource.ts";
export type { RootKey, SetOptions } from "./root-key.ts";
export type { TokenStorage } from "./session.ts";
