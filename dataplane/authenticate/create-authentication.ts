// Joins the parts of authentication: what an Authorization header proves. Cached credentials are checked against live configuration alone, so
// that they hold while the store is away.

import type { Clock } from "../../core/clock.ts";
import type { Directory, LiveProject } from "../config/directory.ts";
import type { SessionStore } from "../store/session-store.ts";
import { anonymous, type Caller } from "./caller.ts";
import { createEndedSessions, type EndedSessions } from "./ended-sessions.ts";
import { createKeyRings, publicKeySet } from "./key-rings.ts";
import { maxAuthorizationLength, parseAuthorization } from "./parse-authorization.ts";
import { invalidCredentials } from "./refusals.ts";
import { createTokens, type Tokens } from "./tokens.ts";
import { createAccessTokenVerifier } from "./verify-access-token.ts";
import { createKeyVerifier } from "./verify-key.ts";

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

export interface AuthenticationDeps {
  readonly directory: Directory;
  readonly store: Pick<SessionStore, "followEndedSessions">;
  readonly clock: Clock;
  /** `iss` of a project's tokens: its configured path base, whatever address a request used. */
  readonly issuerOf: (project: LiveProject) => string;
}

/** Rejects with what the store says when the sessions ended so far can't be learnt. */
export async function createAuthentication(deps: AuthenticationDeps): Promise<Authentication> {
  const { directory, store, clock, issuerOf } = deps;
  const ended = createEndedSessions(clock);
  const tokens = createTokens({
    rings: createKeyRings(),
    issuerOf,
    nowSeconds: () => Math.floor(clock.now() / 1000),
  });
  const keys = createKeyVerifier(directory, clock);
  const accessTokens = createAccessTokenVerifier({ directory, clock, tokens, ended });
  const following = await store.followEndedSessions((sessionId, tokensLive) => ended.add(sessionId, tokensLive));

  return {
    authenticate(project, header) {
      if (header === undefined) return anonymous;
      // Nothing is looked up by a text that is too long to be a credential: hashing it would be work already.
      if (header.length > maxAuthorizationLength) return proveCredential(project, header);
      const cached = accessTokens.cached(project, header) ?? keys.cached(project, header);
      return cached ?? proveCredential(project, header);
    },
    jwks: (project) => publicKeySet(project.signing),
    tokens,
    ended,
    close: () => following.stop(),
  };

  function proveCredential(project: LiveProject, header: string): Caller | Promise<Caller> {
    const credential = parseAuthorization(header);
    if (credential.kind === "apikey") return keys.verify(project, header, credential.key);
    if (credential.kind === "bearer") return accessTokens.verify(project, header, credential.token);
    // Where nobody needs a credential, a header of another scheme was meant for a proxy on the way.
    const meantForUs = credential.kind === "malformed" && credential.scheme !== "basic";
    if (project.config.authentication === "Disabled" && !meantForUs) return anonymous;
    throw invalidCredentials(project.config);
  }
}
