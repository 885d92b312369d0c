// A key with which a test's issuer signs: what it lists of it, and tokens.

import { generateKeyPairSync, type JsonWebKey, sign } from "node:crypto";

export interface SigningKey {
  readonly jwk: JsonWebKey;
  /** ES256, valid for an hour unless the claims say otherwise. */
  token(claims: Readonly<Record<string, unknown>>): string;
}

const hourSeconds = 3_600;

export function newSigningKey(kid: string): SigningKey {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return {
    jwk: { ...publicKey.export({ format: "jwk" }), kid, use: "sig", alg: "ES256" },
    token(claims) {
      const now = Math.floor(Date.now() / 1_000);
      const parts = [
        { alg: "ES256", kid, typ: "JWT" },
        { iat: now, exp: now + hourSeconds, ...claims },
      ];
      const text = parts.map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
      const signature = sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" });
      return `${text}.${signature.toString("base64url")}`;
    },
  };
}
