// What the pipeline asks of authentication; create-authentication.ts joins the parts that answer.

import type { LiveProject } from "../config/directory.ts";
import type { Caller } from "./caller.ts";

export interface LoginAnswer {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly session_id: string;
  readonly message: string;
}

export interface SessionView {
  readonly id: string;
  readonly user: string;
  readonly role: string;
  readonly access: string;
  /** Unix seconds. */
  readonly created: number;
  readonly last_refresh: number;
}

/** Every method throws Problem with the code that CONTRACT.md names. */
export interface Authentication {
  /**
   * The caller that an Authorization header proves. No header: anonymous. A bad `apikey` or `bearer` always throws; with
   * policy Disabled other schemes count as no header. Answers without a promise when the credential is cached.
   */
  authenticate(project: LiveProject, header: string | undefined): Caller | Promise<Caller>;
  /** Exchanges a Basic header for a session. `address` is the client's, behind trusted proxies resolved. */
  login(project: LiveProject, header: string | undefined, address: string): Promise<LoginAnswer>;
  refresh(project: LiveProject, header: string | undefined): Promise<{ readonly access_token: string }>;
  sessions(project: LiveProject, caller: Caller): Promise<readonly SessionView[]>;
  session(project: LiveProject, caller: Caller, id: string): Promise<SessionView>;
  endSession(project: LiveProject, caller: Caller, id: string): Promise<void>;
  /** RFC 7517 key set of the public keys. */
  jwks(project: LiveProject): { readonly keys: readonly Readonly<Record<string, string>>[] };
  close(): Promise<void>;
}
