// Makes the two tokens of a session and reads them back: compact JWS by Ed25519 with a `kid` of the project's ring. Reading
// answers the claims of a token that this project made for this use, expired or not, and nothing for every other text.

import { compactVerify, errors, SignJWT } from "jose";
import type { SigningRing } from "../../core/config/types.ts";
import { isObject } from "../../core/json/json-value.ts";
import type { LiveProject } from "../config/directory.ts";
import type { KeyRings } from "./key-rings.ts";
import { projectUnavailable } from "./refusals.ts";

export type TokenUse = "access" | "refresh";

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

export interface Tokens {
  /** Throws Problem `project_unavailable` while no key of the ring signs. */
  mint(project: LiveProject, use: TokenUse, claims: TokenClaims): Promise<string>;
  /** Undefined unless signature, issuer, audience, use and the shape of all claims are right; `exp` is for the caller to check. */
  read(project: LiveProject, use: TokenUse, token: string): Promise<TokenClaims | undefined>;
}

export interface TokensDeps {
  readonly rings: KeyRings;
  readonly issuerOf: (project: LiveProject) => string;
  readonly nowSeconds: () => number;
}

const decoder = new TextDecoder("utf-8", { fatal: true });

/** `kid` names no key of the ring. */
class UnknownKey extends Error {
  override readonly name = "UnknownKey";
}

export function createTokens({ rings, issuerOf, nowSeconds }: TokensDeps): Tokens {
  return {
    async mint(project, use, claims) {
      const signer = rings.signer(project.signing);
      if (signer === undefined) throw projectUnavailable("The project has no signing key yet; try again");
      const payload = { token_use: use, iss: issuerOf(project), aud: audienceOf(project, use), ...claims };
      return await new SignJWT(payload)
        .setProtectedHeader({ alg: "EdDSA", kid: signer.kid, typ: "JWT" })
        .sign(signer.key);
    },
    async read(project, use, token) {
      const payload = await verifiedPayload(project.signing, rings, token);
      if (payload === undefined || payload.token_use !== use) return undefined;
      if (payload.iss !== issuerOf(project) || payload.aud !== audienceOf(project, use)) return undefined;
      if (payload.nbf !== undefined && !(isTime(payload.nbf) && payload.nbf <= nowSeconds())) return undefined;
      return claimsOf(payload);
    },
  };
}

type Payload = Readonly<Record<string, unknown>>;

async function verifiedPayload(ring: SigningRing, rings: KeyRings, token: string): Promise<Payload | undefined> {
  try {
    const { payload } = await compactVerify(
      token,
      ({ kid }) => {
        const key = kid === undefined ? undefined : rings.verifyingKey(ring, kid);
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

/** Only texts that a key of the ring signed come here, so what can't be read was signed by mistake: still no credential. */
function payloadOf(bytes: Uint8Array): Payload | undefined {
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes));
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

function claimsOf({ sub, sid, cv, jti, iat, exp }: Payload): TokenClaims | undefined {
  if (!isText(sub) || !isText(sid) || !isText(cv) || !isText(jti) || !isTime(iat) || !isTime(exp)) return undefined;
  return Object.freeze({ sub, sid, cv, jti, iat, exp });
}

/** Two audiences, so that even a library that knows no `token_use` takes neither token for the other. */
function audienceOf(project: LiveProject, use: TokenUse): string {
  return use === "access" ? project.config.uid : `${project.config.uid}/refresh`;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
