// The session of a person: signs in and out, and refreshes the access token once for all requests,
// and all tabs, that find it expired. When that is so, only the server says: the clock of this
// machine may be wrong.

import type { Credentials } from "./credentials.ts";
import { isUncertain, Problem } from "./problem.ts";
import type { Call } from "./requests.ts";

/** Of `localStorage`, which all tabs of an origin share, or of another place. */
export interface TokenStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

export interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
}

/** Sends a call of the session itself, with this Authorization header. */
type SendAs = (call: Call, authorization: string) => Promise<unknown>;

export class Session implements Credentials {
  readonly #storage: TokenStorage;
  /** In the storage, and of the lock of a refresh. */
  readonly #key: string;
  readonly #sendAs: SendAs;
  readonly #listeners = new Set<(isSignedIn: boolean) => void>();
  #renewing: Promise<void> | undefined;

  constructor(storage: TokenStorage, url: string, sendAs: SendAs) {
    this.#storage = storage;
    this.#key = `jsonplane:${url}`;
    this.#sendAs = sendAs;
  }

  get isSignedIn(): boolean {
    return this.#tokens() !== undefined;
  }

  async signIn(username: string, password: string, signal?: AbortSignal): Promise<void> {
    // btoa takes bytes: a name or a password may have other letters than those of ASCII.
    const bytes = new TextEncoder().encode(`${username}:${password}`);
    const call = { method: "POST", path: "/sessions", signal, isRepeatable: true };
    this.#keep((await this.#sendAs(call, `Basic ${btoa(String.fromCharCode(...bytes))}`)) as Tokens);
  }

  /** Whatever the server says. */
  forget(): void {
    this.#storage.removeItem(this.#key);
    this.#notify();
  }

  async current(): Promise<string | undefined> {
    return headerOf(this.#tokens());
  }

  async renewed(expired: string): Promise<string | undefined> {
    if (headerOf(this.#tokens()) === expired) {
      this.#renewing ??= withLock(this.#key, () => this.#renew(expired)).finally(() => {
        this.#renewing = undefined;
      });
      await this.#renewing;
    }
    return await this.current();
  }

  refused(header: string): void {
    if (headerOf(this.#tokens()) === header) this.forget();
  }

  /** Calls back whenever somebody signs in or out, also in another tab. Returns what ends that. */
  onChange(listener: (isSignedIn: boolean) => void): () => void {
    const inOtherTab = (event: { readonly key?: string | null }) => {
      // Null: all was removed.
      if (event.key === this.#key || event.key === null) listener(this.isSignedIn);
    };
    const target = globalThis as unknown as Partial<StorageEvents>;
    this.#listeners.add(listener);
    target.addEventListener?.("storage", inOtherTab);
    return () => {
      this.#listeners.delete(listener);
      target.removeEventListener?.("storage", inOtherTab);
    };
  }

  async #renew(expired: string): Promise<void> {
    const tokens = this.#tokens();
    // Another tab has been faster, or somebody has signed out.
    if (tokens === undefined || headerOf(tokens) !== expired) return;
    // What waits for it sends it again.
    const call = { method: "POST", path: "/sessions/refresh" };
    try {
      const fresh = (await this.#sendAs(call, `Bearer ${tokens.refresh_token}`)) as Pick<Tokens, "access_token">;
      if (headerOf(this.#tokens()) === expired) this.#write({ ...tokens, access_token: fresh.access_token });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.status === 401) this.refused(expired);
      // The session may go on. What was refused for its token hasn't taken place.
      throw isUncertain(error) ? new Problem({ ...error, cause: error, retryAfterMs: 0 }) : error;
    }
  }

  #tokens(): Tokens | undefined {
    const text = this.#storage.getItem(this.#key);
    return text === null ? undefined : (JSON.parse(text) as Tokens);
  }

  #write({ access_token, refresh_token }: Tokens): void {
    this.#storage.setItem(this.#key, JSON.stringify({ access_token, refresh_token }));
  }

  #keep(tokens: Tokens): void {
    this.#write(tokens);
    this.#notify();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener(this.isSignedIn);
  }
}

interface StorageEvents {
  addEventListener(type: "storage", listener: (event: { readonly key?: string | null }) => void): void;
  removeEventListener(type: "storage", listener: (event: { readonly key?: string | null }) => void): void;
}

interface Locks {
  request(name: string, action: () => Promise<void>): Promise<void>;
}

/** Of all tabs of an origin, one at a time; without https there are no locks. */
async function withLock(name: string, action: () => Promise<void>): Promise<void> {
  const { navigator } = globalThis as unknown as { readonly navigator?: { readonly locks?: Locks } };
  return await (navigator?.locks?.request(name, action) ?? action());
}

function headerOf(tokens: Tokens | undefined): string | undefined {
  return tokens === undefined ? undefined : `bearer ${tokens.access_token}`;
}

/** Tokens that a reload forgets. */
export function memoryStorage(): TokenStorage {
  const items = new Map<string, string>();
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
  };
}
