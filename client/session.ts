// The session of a person: signs in and out, and refreshes the access token once for all requests
// that find it expired. When that is so, only the server says: the clock of this machine may be
// wrong. Tabs may refresh at the same time, because that doesn't use up the refresh token.

import type { Credential, Credentials } from "./credentials.ts";
import { Problem } from "./problem.ts";
import type { Call } from "./requests.ts";

/**
 * Of `localStorage`, which all tabs of an origin share, or of another place. Whatever it throws,
 * the call throws that needs it.
 */
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
  /** In the storage. */
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
    this.#write((await this.#sendAs(call, `Basic ${btoa(String.fromCharCode(...bytes))}`)) as Tokens);
    this.#notify();
  }

  /** Whatever the server says. */
  forget(): void {
    this.#storage.removeItem(this.#key);
    this.#notify();
  }

  async current(): Promise<Credential | undefined> {
    return credentialOf(this.#tokens());
  }

  async renewed(expired: Credential): Promise<Credential | undefined> {
    if (this.#isCurrent(expired)) {
      this.#renewing ??= this.#renew(expired).finally(() => {
        this.#renewing = undefined;
      });
      await this.#renewing;
    }
    const other = credentialOf(this.#tokens());
    // What one person began isn't sent as the next one who signs in.
    return other?.session === expired.session ? other : undefined;
  }

  refused(credential: Credential): void {
    if (this.#isCurrent(credential)) this.forget();
  }

  /** Calls back whenever somebody signs in or out, also in another tab. Returns what ends that. */
  onChange(listener: (isSignedIn: boolean) => void): () => void {
    const inOtherTab = ({ key, oldValue, newValue }: StorageChange) => {
      const isOurs = key === this.#key && sessionIn(oldValue) !== sessionIn(newValue);
      // Null: all was removed.
      if (isOurs || key === null) listener(this.isSignedIn);
    };
    const target = globalThis as unknown as Partial<StorageEvents>;
    this.#listeners.add(listener);
    target.addEventListener?.("storage", inOtherTab);
    return () => {
      this.#listeners.delete(listener);
      target.removeEventListener?.("storage", inOtherTab);
    };
  }

  async #renew(expired: Credential): Promise<void> {
    const tokens = this.#tokens();
    if (tokens === undefined) return;
    const call = { method: "POST", path: "/sessions/refresh", isRepeatable: true };
    try {
      const fresh = (await this.#sendAs(call, `Bearer ${tokens.refresh_token}`)) as Pick<Tokens, "access_token">;
      // Another tab may have been faster, and somebody may have signed out.
      if (this.#isCurrent(expired)) this.#write({ ...tokens, access_token: fresh.access_token });
    } catch (error) {
      if (error instanceof Problem && error.status === 401) this.refused(expired);
      throw error;
    }
  }

  #isCurrent({ header }: Credential): boolean {
    return credentialOf(this.#tokens())?.header === header;
  }

  #tokens(): Tokens | undefined {
    return tokensIn(this.#storage.getItem(this.#key));
  }

  #write({ access_token, refresh_token }: Tokens): void {
    this.#storage.setItem(this.#key, JSON.stringify({ access_token, refresh_token }));
  }

  #notify(): void {
    for (const listener of this.#listeners) listener(this.isSignedIn);
  }
}

interface StorageChange {
  readonly key: string | null;
  readonly oldValue: string | null;
  readonly newValue: string | null;
}

interface StorageEvents {
  addEventListener(type: "storage", listener: (event: StorageChange) => void): void;
  removeEventListener(type: "storage", listener: (event: StorageChange) => void): void;
}

/** What can't be read is no session: people sign in again. */
function tokensIn(text: string | null): Tokens | undefined {
  try {
    return (JSON.parse(text ?? "null") as Tokens | null) ?? undefined;
  } catch {
    return undefined;
  }
}

/** A refresh leaves it as it is. */
function sessionIn(text: string | null): string | undefined {
  return tokensIn(text)?.refresh_token;
}

function credentialOf(tokens: Tokens | undefined): Credential | undefined {
  return tokens && { header: `bearer ${tokens.access_token}`, session: tokens.refresh_token };
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
