// Makes and reads the two tokens of a session: compact JWS by Ed25519 with a `kid` of the project's
// signing keys. Reading returns the claims of a token that this project made for this use, expired
// or not, and nothing for any other text. Verified access tokens are remembered: the check costs
// more than the rest of a request.

import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { compactVerify, errors, SignJWT } from "jose";
import type { SigningRing } from "../../core/config/types.ts";
import { isObject } from "../../core/json/json-value.ts";
import { recentlyUsed } from "../../core/recently-used.ts";
import type { LiveProject } from "../config/directory.ts";
import { projectUnavailable, tokenOfAnotherUrl } from "./refusals.ts";

type TokenUse = "access" | "refresh";

export interface TokenClaims {
  /** User name. */
  readonly sub: string;
  /** Session id. */
  readonly sid: string;
  /** Revision of the credential that the session was opened with. */
  readonly cv: string;
  readonly jti: string;
  /** Unix seconds. */
  readonly iat: number;
  readonly exp: number;
}

export interface ReadClaims extends TokenClaims {
  /** Unix seconds from which it is valid; this service's own have none. */
  readonly nbf?: number;
}

export interface Tokens {
  /** Throws Problem `project_unavailable` while no key of the ring signs. */
  mint(project: LiveProject, use: TokenUse, claims: TokenClaims): Promise<string>;
  /**
   * Undefined unless signature, audience, use and all claims are right. The caller checks `exp`.
   * Synchronous where the signature was verified before. Throws Problem `invalid_credentials`, with
   * a detail of its own, where only the issuer is another one.
   */
  read(project: LiveProject, use: TokenUse, token: string): Read | Promise<Read>;
}

type Read = ReadClaims | undefined;

interface TokensDeps {
  readonly signingKeys: SigningKeys;
  readonly issuerOf: (project: LiveProject) => string;
  readonly nowSeconds: () => number;
  /** Access tokens remembered. */
  readonly maxVerified: number;
}

/** What a key of this ring signed: with another ring a token is checked again. */
interface Verified {
  readonly ring: SigningRing;
  readonly payload: Payload;
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** `kid` names no key of the ring. */
class UnknownKey extends Error {
  override readonly name = "UnknownKey";
}

export function createTokens({ signingKeys, issuerOf, nowSeconds, maxVerified }: TokensDeps): Tokens {
  const verified = recentlyUsed<Verified>(maxVerified);

  const claimsFor = (project: LiveProject, use: TokenUse, payload: Payload): Read => {
    if (payload.token_use !== use) return undefined;
    if (payload.aud !== audienceOf(project, use)) return undefined;
    // This project signed it: a replica has another public URL, or had one.
    if (payload.iss !== issuerOf(project)) throw tokenOfAnotherUrl(project.config);
    if (payload.nbf !== undefined && !(isTime(payload.nbf) && payload.nbf <= nowSeconds())) return undefined;
    return claimsOf(payload);
  };

  const verify = async (project: LiveProject, use: TokenUse, token: string): Promise<Read> => {
    const ring = project.signing;
    const payload = await verifiedPayload(ring, signingKeys, token);
    if (payload === undefined) return undefined;
    const claims = claimsFor(project, use, payload);
    // A refresh token is read once in minutes.
    if (claims !== undefined && use === "access") verified.set(token, { ring, payload });
    return claims;
  };

  return {
    async mint(project, use, claims) {
      const signer = signingKeys.signer(project.signing);
      if (signer === undefined) throw projectUnavailable("The project has no signing key yet; try again");
      const payload = { token_use: use, iss: issuerOf(project), aud: audienceOf(project, use), ...claims };
      return await new SignJWT(payload)
        .setProtectedHeader({ alg: "EdDSA", kid: signer.kid, typ: "JWT" })
        .sign(signer.key);
    },
    read(project, use, token) {
      const known = verified.get(token);
      return known?.ring === project.signing ? claimsFor(project, use, known.payload) : verify(project, use, token);
    },
  };
}

type Payload = Readonly<Record<string, unknown>>;

async function verifiedPayload(
  ring: SigningRing,
  signingKeys: SigningKeys,
  token: string,
): Promise<Payload | undefined> {
  try {
    const { payload } = await compactVerify(
      token,
      ({ kid }) => {
        const key = kid === undefined ? undefined : signingKeys.verifyingKey(ring, kid);
        if (key === undefined) throw new UnknownKey();
        return key;
      },
      { algorithms: ["EdDSA"] },
    );
    return payloadOf(payload);
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof UnknownKey) return undefined;
    throw error;
  }
}

/** Only texts that our key signed reach this. One that can't be read is no credential. */
function payloadOf(bytes: Uint8Array): Payload | undefined {
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes));
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

function claimsOf({ sub, sid, cv, jti, iat, exp, nbf }: Payload): Read {
  if (!isText(sub) || !isText(sid) || !isText(cv) || !isText(jti) || !isTime(iat) || !isTime(exp)) return undefined;
  return Object.freeze({ sub, sid, cv, jti, iat, exp, ...(isTime(nbf) && { nbf }) });
}

/** Two audiences: a library that ignores `token_use` still can't confuse the tokens. */
function audienceOf(project: LiveProject, use: TokenUse): string {
  return use === "access" ? project.config.uid : `${project.config.uid}/refresh`;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

interface Signer {
  readonly kid: string;
  readonly key: KeyObject;
}

interface ImportedRing {
  readonly signer: Signer | undefined;
  readonly verifying: ReadonlyMap<string, KeyObject>;
}

interface SigningKeys {
  /** The first key that signs; undefined while a new ring waits for the replicas to know it. */
  signer(ring: SigningRing): Signer | undefined;
  verifyingKey(ring: SigningRing, kid: string): KeyObject | undefined;
}

export function createSigningKeys(): SigningKeys {
  // By the key ring object: a project that is replaced takes its keys with it.
  const imported = new WeakMap<SigningRing, ImportedRing>();
  const importOnce = (ring: SigningRing): ImportedRing => {
    const known = imported.get(ring);
    if (known !== undefined) return known;
    const made = importRing(ring);
    imported.set(ring, made);
    return made;
  };
  return {
    signer: (ring) => importOnce(ring).signer,
    verifyingKey: (ring, kid) => importOnce(ring).verifying.get(kid),
  };
}

function importRing(ring: SigningRing): ImportedRing {
  const signing = ring.keys.find((key) => key.signs);
  return {
    signer: signing && {
      kid: signing.kid,
      key: createPrivateKey({ key: { kty: "OKP", crv: "Ed25519", x: signing.x, d: signing.d }, format: "jwk" }),
    },
    verifying: new Map(
      ring.keys.map(({ kid, x }) => [kid, createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" })]),
    ),
  };
}

/** RFC 7517 key set of the public halves (RFC 8037); `d` never leaves. */
export function publicKeySet(ring: SigningRing): { readonly keys: readonly Readonly<Record<string, string>>[] } {
  return { keys: ring.keys.map(({ kid, x }) => ({ kty: "OKP", crv: "Ed25519", kid, alg: "EdDSA", use: "sig", x })) };
}
