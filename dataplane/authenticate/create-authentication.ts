// What an Authorization header proves: an API key by its SHA-256, an access token by its signature,
// a token of an external issuer by that issuer's key (external/). Whether the key or user still
// exists, and its role, is read from live configuration whenever a request is decided, so a removal
// takes effect immediately, also while the store is away. Refuses with 401, and with 503 what can't
// be looked up.

import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Clock } from "../../core/clock.ts";
import type { KeyConfig, UserConfig } from "../../core/config/types.ts";
import { betweenFetchesMs, type WantedKeys } from "../../core/config/wanted-keys.ts";
import type { Problem } from "../../core/errors/problem.ts";
import { systemTimers, type Timers } from "../../core/timers.ts";
import type { Directory, LiveProject, Lookup } from "../config/directory.ts";
import type { EndedSessionFeed } from "../store/ports/sessions.ts";
import { anonymous, type Caller, logMembersOf } from "./caller.ts";
import { createEndedSessions, type EndedSessions } from "./ended-sessions.ts";
import { createExternalTokens } from "./external/external-tokens.ts";
import type { ExternalGrant } from "./external/grant.ts";
import {
  type Authorization,
  maxAuthorizationLength,
  parseAuthorization,
  type TokenFault,
} from "./parse-authorization.ts";
import {
  accessTokenExpired,
  externalTokenRefused,
  invalidCredentials,
  keyExpired,
  projectUnavailable,
} from "./refusals.ts";
import { createSigningKeys, createTokens, publicKeySet, type ReadClaims, type Tokens } from "./tokens.ts";

/** A caller, as a header proved it. It is valid for a time, and until the session ends. */
export interface Proof {
  readonly caller: Caller;
  /** Members of the log line that name the caller. */
  readonly logMembers: string;
  /** Unix milliseconds; `validUntil` is excluded. */
  readonly validFrom: number;
  readonly validUntil: number;
}

export interface AuthenticationOptions {
  /** An access token proves its user for as long as the session, also when it has expired. */
  readonly outlivesToken?: boolean | undefined;
}

/** Methods throw Problem with a code of docs/reference/errors.md, except for `holds`. */
export interface Authentication {
  /**
   * The caller that a header proves; anonymous without a header. A bad `apikey` or `bearer` always
   * throws; under the policy Disabled other schemes count as no header. Synchronous when everything
   * needed is in memory.
   */
  authenticate(
    project: LiveProject,
    header: string | undefined,
    options?: AuthenticationOptions,
  ): Proof | Promise<Proof>;
  /** Whether time and sessions still allow it. Changes of the configuration are not checked. */
  holds(proof: Proof): boolean;
  /** RFC 7517 key set of the public keys. */
  jwks(project: LiveProject): { readonly keys: readonly Readonly<Record<string, string>>[] };
  /** Makes the tokens that it verifies. */
  readonly tokens: Tokens;
  /** Whose access tokens it refuses. */
  readonly ended: EndedSessions;
  close(): Promise<void>;
}

interface AuthenticationDeps {
  readonly directory: Pick<Directory, "user" | "key" | "project" | "onChange">;
  readonly store: EndedSessionFeed;
  readonly clock: Clock;
  /** `iss` of a project's tokens: its configured path base, whatever address a request used. */
  readonly issuerOf: (project: LiveProject) => string;
  /** Verified tokens that are remembered, of our own and of others each. */
  readonly maxVerified?: number;
  readonly timers?: Timers;
  /** Called with keys of external issuers that tokens name and that are missing. */
  readonly wantKeys?: (wanted: WantedKeys) => void;
  /** Milliseconds between two such calls for one issuer; a minute by default. */
  readonly betweenWantsMs?: number;
}

/** Some hundred bytes each. Only valid tokens are remembered: forged ones push nothing out. */
const defaultMaxVerified = 20_000;

const always = { validFrom: Number.NEGATIVE_INFINITY, validUntil: Number.POSITIVE_INFINITY };

/** The proof of a request that needs no authentication. */
export const noCredential: Proof = Object.freeze({
  caller: anonymous,
  logMembers: logMembersOf(anonymous),
  ...always,
});

/** Rejects with what the store says when the sessions that ended so far can't be read. */
export async function createAuthentication(deps: AuthenticationDeps): Promise<Authentication> {
  const { directory, store, clock, issuerOf, maxVerified = defaultMaxVerified } = deps;
  const ended = createEndedSessions(clock);
  const tokens = createTokens({
    signingKeys: createSigningKeys(),
    issuerOf,
    nowSeconds: () => Math.floor(clock.now() / 1000),
    maxVerified,
  });
  const { timers = systemTimers, wantKeys = () => undefined, betweenWantsMs = betweenFetchesMs } = deps;
  const keyRequests = { wantKeys, betweenWantsMs };
  const externalTokens = createExternalTokens({ directory, clock, timers, issuerOf, ...keyRequests, maxVerified });
  const following = await store.followEndedSessions((sessionId, tokenLifetimeSeconds) =>
    ended.add(sessionId, tokenLifetimeSeconds),
  );

  const isInTime = ({ validFrom, validUntil }: Proof): boolean => {
    const now = clock.now();
    return now >= validFrom && now < validUntil;
  };

  const proofOfKey = (project: LiveProject, found: Lookup<KeyConfig>): Proof => {
    const config = liveValue(found);
    if (config === undefined) throw invalidCredentials(project.config);
    const { name, description, role, access, expiresAt } = config;
    const validity = expiresAt === undefined ? always : { ...always, validUntil: expiresAt * 1000 };
    const proof = proofOf({ kind: "apikey", name, description, role, access }, validity);
    if (!isInTime(proof)) throw keyExpired(project.config);
    return proof;
  };

  const proofOfToken = (project: LiveProject, { claims, outlivesToken }: Claimed, found: Lookup<UserConfig>): Proof => {
    const config = liveValue(found);
    const { cv, sid } = claims;
    if (config === undefined || config.credentialRevision !== cv || ended.has(sid)) {
      throw invalidCredentials(project.config);
    }
    const { username: name, role, access } = config;
    const validity = outlivesToken ? always : validityOf(claims, project.config.sessions.accessTokenSeconds);
    const proof = proofOf({ kind: "user", name, role, access, sessionId: sid }, validity);
    if (!isInTime(proof)) throw accessTokenExpired(project.config);
    return proof;
  };

  // Found by hash: the time of a look-up depends on SHA-256 values, which do not lead back to a
  // 256-bit key.
  const byKey = (project: LiveProject, key: string): Proof | Promise<Proof> => {
    const found = directory.key(project, createHash("sha256").update(key).digest("hex"));
    return found instanceof Promise ? found.then((loaded) => proofOfKey(project, loaded)) : proofOfKey(project, found);
  };

  const byClaims = (
    project: LiveProject,
    claims: ReadClaims | undefined,
    outlivesToken: boolean | undefined,
  ): Proof | Promise<Proof> => {
    if (claims === undefined) throw invalidCredentials(project.config);
    const claimed = { claims, outlivesToken };
    const found = directory.user(project, claims.sub);
    return found instanceof Promise
      ? found.then((loaded) => proofOfToken(project, claimed, loaded))
      : proofOfToken(project, claimed, found);
  };

  /**
   * Undefined in a project without issuers, and for a token that names the project as its issuer.
   */
  const byExternalToken = (project: LiveProject, token: string): Proof | Promise<Proof> | undefined => {
    const granted = project.issuers.size === 0 ? undefined : externalTokens.read(project, token);
    return granted instanceof Promise ? granted.then(proofOfGrant) : granted && proofOfGrant(granted);
  };

  const byToken = (
    project: LiveProject,
    { mayBeOwn, token }: TokenCredential,
    { outlivesToken }: AuthenticationOptions,
  ): Proof | Promise<Proof> => {
    const external = byExternalToken(project, token);
    if (external !== undefined) return external;
    if (!mayBeOwn) throw invalidCredentials(project.config);
    const claims = tokens.read(project, "access", token);
    return claims instanceof Promise
      ? claims.then((read) => byClaims(project, read, outlivesToken))
      : byClaims(project, claims, outlivesToken);
  };

  return {
    authenticate(project, header, options = {}) {
      if (header === undefined) return noCredential;
      const credential = parseAuthorization(header);
      if (credential.kind === "apikey") return byKey(project, credential.key);
      if (credential.kind === "token") return byToken(project, credential, options);
      // Under the policy Disabled, a header of another scheme is meant for a proxy.
      const meantForUs = credential.kind === "malformed" && credential.scheme !== "basic";
      if (project.config.authentication === "Disabled" && !meantForUs) return noCredential;
      throw malformedCredential(project, credential);
    },
    holds: (proof) => isInTime(proof) && !(proof.caller.kind === "user" && ended.has(proof.caller.sessionId)),
    jwks: (project) => publicKeySet(project.signing),
    tokens,
    ended,
    async close() {
      externalTokens.close();
      await following.stop();
    },
  };
}

/**
 * The Authorization header. Throws Problem `invalid_credentials` where there are several: they
 * arrive joined, and a proxy may use another one. A single header may contain commas too.
 */
export function authorizationOf(
  { config }: LiveProject,
  { headers: { authorization }, rawHeaders }: Pick<IncomingMessage, "headers" | "rawHeaders">,
): string | undefined {
  if (authorization?.includes(",") !== true) return authorization;
  const sent = rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === "authorization");
  if (sent.length > 1) throw invalidCredentials(config);
  return authorization;
}

interface Claimed extends AuthenticationOptions {
  readonly claims: ReadClaims;
}

type TokenCredential = Extract<Authorization, { readonly kind: "token" }>;

/** A project with issuers says what is wrong with the form: people confuse kinds of tokens. */
function malformedCredential({ config, issuers }: LiveProject, credential: Authorization): Problem {
  const fault = credential.kind === "malformed" && issuers.size > 0 ? credential.fault : undefined;
  return fault === undefined ? invalidCredentials(config) : externalTokenRefused(config, tokenFaults[fault]);
}

const tokenFaults: Readonly<Record<TokenFault, string>> = {
  too_long: `The token is too long: an Authorization header may not be longer than ${maxAuthorizationLength / 1024} KiB`,
  no_compact_jws:
    "The token is not a signed JSON Web Token (three parts of base64url); opaque and encrypted tokens can't be verified",
};

type Validity = Pick<Proof, "validFrom" | "validUntil">;

function proofOfGrant({ caller, ...validity }: ExternalGrant): Proof {
  return proofOf(caller, validity);
}

function proofOf(caller: Caller, validity: Validity): Proof {
  return Object.freeze({ caller: Object.freeze(caller), logMembers: logMembersOf(caller), ...validity });
}

/** `accessTokenSeconds` = the lifetime of an access token as it is configured now. */
function validityOf({ iat, exp, nbf = Number.NEGATIVE_INFINITY }: ReadClaims, accessTokenSeconds: number): Validity {
  return {
    // A clock that was ahead issued it: it would be valid until that time.
    validFrom: Math.max(iat - accessTokenSeconds, nbf) * 1000,
    // A lifetime that was shortened also applies to tokens issued before. Ended sessions are
    // remembered that long.
    validUntil: Math.min(exp, iat + accessTokenSeconds) * 1000,
  };
}

/** Undefined for what does not exist. Throws `project_unavailable` where that isn't known. */
export function liveValue<T>(lookup: Lookup<T>): T | undefined {
  if (lookup.outcome === "unavailable") throw projectUnavailable();
  return lookup.outcome === "found" ? lookup.value : undefined;
}
