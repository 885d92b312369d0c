// Makes access and refresh tokens as the data plane does, and every wrong variant of them that a
// test asks for.

import { createPrivateKey, type KeyObject, sign } from "node:crypto";
import type { CompiledProject, SigningKey } from "../../../core/config/types.ts";

export type Claims = Readonly<Record<string, unknown>>;

export interface ForgedToken {
  readonly key?: SigningKey;
  readonly header?: Claims;
  /** Laid over the right claims; undefined takes one away. */
  readonly claims?: Claims;
}

export interface TokenBasis {
  readonly project: CompiledProject;
  readonly username: string;
  readonly issuer: string;
  readonly nowSeconds: number;
  readonly sessionId?: string;
}

export function accessClaims(basis: TokenBasis): Claims {
  const user = basis.project.users.get(basis.username);
  return {
    token_use: "access",
    iss: basis.issuer,
    aud: basis.project.project.uid,
    sub: basis.username,
    sid: basis.sessionId ?? "0197f6a0-0000-4000-8000-000000000001",
    jti: "0197f6a0-0000-4000-8000-000000000002",
    iat: basis.nowSeconds,
    exp: basis.nowSeconds + 300,
    cv: user?.credentialRevision ?? "none",
  };
}

export function accessToken(basis: TokenBasis, forged: ForgedToken = {}): string {
  return signed(basis.project, JSON.stringify({ ...accessClaims(basis), ...forged.claims }), forged);
}

/**
 * A compact JWS of any payload text, by the project's first key unless another is given; undefined
 * leaves a header out.
 */
export function signed(project: CompiledProject, payload: string, forged: ForgedToken = {}): string {
  const key = forged.key ?? project.signing.keys[0];
  if (key === undefined) throw new Error("The project has no signing key");
  const header = JSON.stringify({ alg: "EdDSA", kid: key.kid, typ: "JWT", ...forged.header });
  const text = `${base64url(header)}.${base64url(payload)}`;
  return `${text}.${base64url(sign(null, Buffer.from(text), privateKey(key)))}`;
}

/** Header and payload as they are, with a signature that the test brings. */
export function assembled(header: Claims, payload: Claims, signature: Buffer | string): string {
  return `${base64url(JSON.stringify(header))}.${base64url(JSON.stringify(payload))}.${base64url(signature)}`;
}

function base64url(bytes: Buffer | string): string {
  return Buffer.from(bytes).toString("base64url");
}

function privateKey({ x, d }: SigningKey): KeyObject {
  return createPrivateKey({ key: { kty: "OKP", crv: "Ed25519", x, d }, format: "jwk" });
}
