// What the pipeline asks of authentication; create-authentication.ts joins the parts that answer.

import type { LiveProject } from "../config/directory.ts";
import type { Caller } from "./caller.ts";
import type { EndedSessions } from "./ended-sessions.ts";
import type { Tokens } from "./tokens.ts";

/** Every method throws Problem with the code that CONTRACT.md names. */
export interface Authentication {
  /**
   * The caller that an Authorization header proves. No header: anonymous. A bad `apikey` or `bearer` always throws; with
   * policy Disabled other schemes count as no header. Answers without a promise when the credential is cached.
   */
  authenticate(project: LiveProject, header: string | undefined): Caller | Promise<Caller>;
  /** RFC 7517 key set of the public keys. */
  jwks(project: LiveProject): { readonly keys: readonly Readonly<Record<string, string>>[] };
  /** Makes the tokens that it verifies. */
  readonly tokens: Tokens;
  /** Whose access tokens it refuses. */
  readonly ended: EndedSessions;
  close(): Promise<void>;
}
