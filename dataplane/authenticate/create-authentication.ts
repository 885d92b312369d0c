// What an Authorization header proves: an API key by its SHA-256, an access token by its signature, each checked once and remembered by the
// header's text. Whether the key, or the user and the session, still exist, and with which role, is looked up in live configuration
// on every request, so that a removal takes effect at once, also while the store is away. Refuses with 401, and with 503 what can't be looked up.

import { createHash } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import type { KeyConfig, SigningRing, UserConfig } from "../../core/config/types.ts";
import { recentlyUsed } from "../../core/recently-used.ts";
import type { Directory, LiveProject, Lookup } from "../config/directory.ts";
import type { EndedSessionFeed } from "../store/ports/sessions.ts";
import { anonymous, type Caller, type KeyCaller, type UserCaller } from "./caller.ts";
import { createEndedSessions, type EndedSessions } from "./ended-sessions.ts";
import { createKeyRings, publicKeySet } from "./key-rings.ts";
import { maxAuthorizationLength, parseAuthorization } from "./parse-authorization.ts";
import { accessTokenExpired, invalidCredentials, keyExpired, projectUnavailable } from "./refusals.ts";
import { createTokens, type TokenClaims, type Tokens } from "./tokens.ts";

/** Every method throws Problem with a code of docs/reference/errors.md. */
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
  readonly store: EndedSessionFeed;
  readonly clock: Clock;
  /** `iss` of a project's tokens: its configured path base, whatever address a request used. */
  readonly issuerOf: (project: LiveProject) => string;
}

/** A credential that a header proved, and the caller made of its configuration; a changed configuration makes another caller. */
type Known = KnownKey | KnownToken;

interface KnownKey {
  readonly kind: "apikey";
  readonly sha256: string;
  readonly live?: { readonly config: KeyConfig; readonly caller: KeyCaller };
}

interface KnownToken {
  readonly kind: "bearer";
  readonly claims: TokenClaims;
  /** What it was verified against: with another ring or another project it is verified again. */
  readonly ring: SigningRing;
  readonly uid: string;
  readonly live?: { readonly config: UserConfig; readonly caller: UserCaller };
}

/** Headers remembered; only those that proved a credential, so that a flood of wrong ones pushes nothing out. */
const maxKnown = 20_000;

/** Rejects with what the store says when the sessions ended so far can't be learnt. */
export async function createAuthentication(deps: AuthenticationDeps): Promise<Authentication> {
  const { directory, store, clock, issuerOf } = deps;
  const ended = createEndedSessions(clock);
  const tokens = createTokens({
    rings: createKeyRings(),
    issuerOf,
    nowSeconds: () => Math.floor(clock.now() / 1000),
  });
  const following = await store.followEndedSessions((sessionId, tokensLive) => ended.add(sessionId, tokensLive));
  const known = recentlyUsed<Known>(maxKnown);

  const callers = createLiveCallers(known, { directory, clock, ended });

  const callerOfBearer = async (project: LiveProject, header: string, token: string): Promise<Caller> => {
    const claims = await tokens.read(project, "access", token);
    if (claims === undefined) throw invalidCredentials(project.config);
    const { uid } = project.config;
    return await callers.ofToken(project, header, { kind: "bearer", claims, ring: project.signing, uid });
  };

  const proveCredential = (project: LiveProject, header: string): Caller | Promise<Caller> => {
    const credential = parseAuthorization(header);
    if (credential.kind === "apikey") {
      const sha256 = createHash("sha256").update(credential.key).digest("hex");
      return callers.ofKey(project, header, { kind: "apikey", sha256 });
    }
    if (credential.kind === "bearer") return callerOfBearer(project, header, credential.token);
    // Where nobody needs a credential, a header of another scheme was meant for a proxy on the way.
    const meantForUs = credential.kind === "malformed" && credential.scheme !== "basic";
    if (project.config.authentication === "Disabled" && !meantForUs) return anonymous;
    throw invalidCredentials(project.config);
  };

  return {
    authenticate(project, header) {
      if (header === undefined) return anonymous;
      // Nothing is looked up by a text that is too long to be a credential: hashing it would be work already.
      const credential = header.length > maxAuthorizationLength ? undefined : known.get(header);
      if (credential?.kind === "apikey") return callers.ofKey(project, header, credential);
      if (credential !== undefined && wasVerifiedFor(project, credential))
        return callers.ofToken(project, header, credential);
      return proveCredential(project, header);
    },
    jwks: (project) => publicKeySet(project.signing),
    tokens,
    ended,
    close: () => following.stop(),
  };
}

/** The caller of a credential as it stands in the live configuration now: a promise only while that has to be loaded. */
interface LiveCallers {
  ofKey(project: LiveProject, header: string, key: KnownKey): Caller | Promise<Caller>;
  ofToken(project: LiveProject, header: string, token: KnownToken): Caller | Promise<Caller>;
}

function createLiveCallers(
  known: ReturnType<typeof recentlyUsed<Known>>,
  { directory, clock, ended }: Pick<AuthenticationDeps, "directory" | "clock"> & { readonly ended: EndedSessions },
): LiveCallers {
  const callerOfKey = (project: LiveProject, header: string, key: KnownKey, found: Lookup<KeyConfig>): Caller => {
    const config = liveValue(found);
    if (config === undefined) {
      known.delete(header);
      throw invalidCredentials(project.config);
    }
    if (config.expiresAt !== undefined && clock.now() >= config.expiresAt * 1000) throw keyExpired(project.config);
    if (key.live?.config === config) return key.live.caller;
    const { name, description, role, access } = config;
    const caller: KeyCaller = Object.freeze({ kind: "apikey", name, description, role, access });
    known.set(header, { ...key, live: { config, caller } });
    return caller;
  };

  const callerOfToken = (
    project: LiveProject,
    header: string,
    token: KnownToken,
    found: Lookup<UserConfig>,
  ): Caller => {
    const config = liveValue(found);
    const { cv, sid, iat, exp } = token.claims;
    if (config === undefined || config.credentialRevision !== cv || ended.has(sid)) {
      known.delete(header);
      throw invalidCredentials(project.config);
    }
    // A life that was shortened since counts for tokens that are out, too; ended sessions are remembered by it.
    const life = project.config.sessions.accessTokenSeconds;
    const expires = Math.min(exp, iat + life);
    const now = clock.now() / 1000;
    // A clock that was ahead made it, by more than clocks may differ: it would live on until that time.
    if (expires <= now || iat - life > now) {
      known.delete(header);
      throw accessTokenExpired(project.config);
    }
    if (token.live?.config === config) return token.live.caller;
    const { username: name, role, access } = config;
    const caller: UserCaller = Object.freeze({ kind: "user", name, role, access, sessionId: sid });
    known.set(header, { ...token, live: { config, caller } });
    return caller;
  };

  return {
    ofKey(project, header, key) {
      // Found by hash and not by comparing texts: the time of a look-up depends on SHA-256 values, which do not lead
      // back to a 256-bit key.
      const found = directory.key(project, key.sha256);
      if (!(found instanceof Promise)) return callerOfKey(project, header, key, found);
      return found.then((loaded) => callerOfKey(project, header, key, loaded));
    },
    ofToken(project, header, token) {
      const found = directory.user(project, token.claims.sub);
      if (!(found instanceof Promise)) return callerOfToken(project, header, token, found);
      return found.then((loaded) => callerOfToken(project, header, token, loaded));
    },
  };
}

/** A key is known by its hash, whatever project it is of; a token was verified against one project's ring. */
function wasVerifiedFor(project: LiveProject, { ring, uid }: KnownToken): boolean {
  return ring === project.signing && uid === project.config.uid;
}

/** Undefined for what is known not to exist. Throws Problem `project_unavailable` where that isn't known, so that it never becomes a 401. */
export function liveValue<T>(lookup: Lookup<T>): T | undefined {
  if (lookup.outcome === "unavailable") throw projectUnavailable();
  return lookup.outcome === "found" ? lookup.value : undefined;
}
