// What a token of an external issuer proves: the project has this issuer, one of the issuer's keys
// signed the token, and its claims meet the configuration. Only verified tokens are remembered, as
// long as the issuer's configuration is the same object. Few signatures are verified at a time, and
// projects take turns. Refuses with 401 and a detail that says what is wrong, and with 503
// `project_busy` where too many wait.

import { hash, type KeyObject } from "node:crypto";
import { compactVerify, errors } from "jose";
import type { Clock } from "../../../core/clock.ts";
import { keyOfProject } from "../../../core/config/config-keys.ts";
import type { IssuerConfig } from "../../../core/config/types.ts";
import type { WantedKeys } from "../../../core/config/wanted-keys.ts";
import type { SignatureAlgorithm } from "../../../core/issuers/algorithms.ts";
import { recentlyUsed } from "../../../core/recently-used.ts";
import { createSemaphore } from "../../../core/semaphore.ts";
import type { Timers } from "../../../core/timers.ts";
import type { Directory, LiveProject } from "../../config/directory.ts";
import { externalTokenExpired, externalTokenRefused, verifyingTooMany } from "../refusals.ts";
import { type ExternalGrant, grantOf, validityOf } from "./grant.ts";
import { createIssuerKeys, type FoundKeys } from "./issuer-keys.ts";
import { createKeyWaits } from "./key-waits.ts";
import { memberOf, readToken, type UnverifiedToken } from "./read-token.ts";

interface ExternalTokens {
  /**
   * The caller that it proves, synchronous for a verified token; undefined for a token that names
   * the project as its issuer. Throws Problem `invalid_credentials` or `token_expired`.
   */
  read(project: LiveProject, token: string): ExternalGrant | Promise<ExternalGrant> | undefined;
  close(): void;
}

interface ExternalTokensDeps {
  readonly directory: Pick<Directory, "project" | "onChange">;
  readonly clock: Clock;
  readonly timers: Timers;
  /** `iss` of a project's own tokens. */
  readonly issuerOf: (project: LiveProject) => string;
  /** Called with keys that a token names and that are missing. */
  readonly wantKeys: (wanted: WantedKeys) => void;
  /** Milliseconds between two such calls for one issuer. */
  readonly betweenWantsMs: number;
  /** Tokens remembered. */
  readonly maxVerified: number;
}

/**
 * Signatures verified at a time: half of Node's threads for such work. Some keys take ten times as
 * long as usual ones, and forging a token costs nothing.
 */
const maxVerifying = 2;
/** Of all projects together. */
const maxWaiting = 1_000;

/** All of it follows from the token and this very configuration. */
interface Verified {
  readonly issuer: IssuerConfig;
  readonly grant: ExternalGrant;
}

export function createExternalTokens(deps: ExternalTokensDeps): ExternalTokens {
  const { clock, issuerOf } = deps;
  const keys = createIssuerKeys();
  const keyWaits = createKeyWaits({ ...deps, monotonic: clock.monotonic });
  const verified = recentlyUsed<Verified>(deps.maxVerified);
  const semaphore = createSemaphore({ concurrency: maxVerifying, maxWaiting, refusal: verifyingTooMany });

  const inTime = (project: LiveProject, grant: ExternalGrant): ExternalGrant => {
    const now = clock.now();
    if (now >= grant.validUntil) throw externalTokenExpired(project.config);
    if (now < grant.validFrom)
      throw externalTokenRefused(project.config, "The token is not valid yet (claims nbf and iat)");
    return grant;
  };

  /** A token that expired or is meant for others is refused before its key is looked for. */
  const requireValidity = (project: LiveProject, issuer: IssuerConfig, { claims }: UnverifiedToken): void => {
    const validity = validityOf(issuer, claims);
    if (typeof validity === "string") throw externalTokenRefused(project.config, validity);
    if (clock.now() >= validity.validUntil) throw externalTokenExpired(project.config);
  };

  const keysOf = async (project: LiveProject, configured: IssuerConfig, token: UnverifiedToken) => {
    let issuer = configured;
    let found: FoundKeys = keys.find(issuer, token);
    while (found === "unknown") {
      requireValidity(project, issuer, token);
      const next = issuer.keysAreFetched ? await keyWaits.nextOf(project, issuer) : undefined;
      if (next === undefined) throw externalTokenRefused(project.config, keyIsMissing(issuer));
      issuer = next;
      found = keys.find(issuer, token);
    }
    if (found !== "ambiguous") return { issuer, named: found };
    throw externalTokenRefused(project.config, "The token names no key (header kid), and its issuer has several");
  };

  const verify = async (
    project: LiveProject,
    text: string,
    token: UnverifiedToken,
    configured: IssuerConfig,
  ): Promise<ExternalGrant> => {
    const { issuer, named } = await keysOf(project, configured, token);
    if (!(await isSigned(project, text, { ...token, named }))) {
      requireValidity(project, issuer, token);
      // Some issuers, mostly those of tests, have another key under the same id after a restart.
      if (issuer.keysAreFetched) keyWaits.want(project, issuer);
      throw externalTokenRefused(project.config, "The token's signature is wrong");
    }
    const grant = grantOf(issuer, token.claims);
    if (typeof grant === "string") throw externalTokenRefused(project.config, grant);
    inTime(project, grant);
    verified.set(nameOf(project, text), { issuer, grant });
    return grant;
  };

  const isSigned = async (project: LiveProject, text: string, token: SignedToken): Promise<boolean> => {
    await semaphore.acquire(keyOfProject(project.config));
    try {
      for (const key of token.named) if (await hasSignature(text, token.algorithm, key)) return true;
      return false;
    } finally {
      semaphore.release();
    }
  };

  return {
    read(project, text) {
      const known = verified.get(nameOf(project, text));
      if (known !== undefined && project.issuers.get(known.issuer.url) === known.issuer)
        return inTime(project, known.grant);
      const token = readToken(text);
      if (typeof token === "string") throw externalTokenRefused(project.config, token);
      const iss = memberOf(token.claims, "iss");
      if (iss === issuerOf(project)) return undefined;
      const issuer = typeof iss === "string" ? project.issuers.get(iss) : undefined;
      if (issuer === undefined) {
        throw externalTokenRefused(project.config, "The token's issuer (claim iss) is not one of this project's");
      }
      return verify(project, text, token, issuer);
    },
    close: () => keyWaits.close(),
  };
}

function keyIsMissing({ keys }: IssuerConfig): string {
  return keys.length === 0
    ? "The keys of the token's issuer could not be fetched yet: the Project's status says why"
    : "The token's issuer has no key with its key id (header kid) and algorithm (header alg)";
}

/** A digest has a fixed size. Two projects may share an issuer and admit different callers. */
function nameOf({ config }: LiveProject, text: string): string {
  return `${config.uid} ${hash("sha256", text, "base64url")}`;
}

interface SignedToken extends UnverifiedToken {
  readonly named: Exclude<FoundKeys, string>;
}

async function hasSignature(text: string, algorithm: SignatureAlgorithm, key: KeyObject): Promise<boolean> {
  try {
    await compactVerify(text, key, { algorithms: [algorithm] });
    return true;
  } catch (error) {
    if (error instanceof errors.JOSEError) return false;
    throw error;
  }
}
