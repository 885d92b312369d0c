// An external issuer of a test: its keys, what the operator would publish of it, and tokens that it
// signs, right or wrong in one respect.

import { createHmac, generateKeyPairSync, type JsonWebKey, type KeyObject, sign } from "node:crypto";
import type { IssuerConfig, IssuerKey } from "../../../core/config/types.ts";
import type { SignatureAlgorithm } from "../../../core/issuers/algorithms.ts";
import type { Modifier } from "./projects.ts";

export interface IssuerKeyPair {
  readonly kid: string;
  readonly algorithm: SignatureAlgorithm;
  readonly privateKey: KeyObject;
  readonly published: IssuerKey;
}

export type Claims = Readonly<Record<string, unknown>>;

export interface TokenOptions {
  readonly key?: IssuerKeyPair;
  /** Laid over the right header; undefined takes a member away. */
  readonly header?: Claims;
  /** In place of the JSON that `claims` would give. */
  readonly payload?: string;
}

export interface TestIssuer {
  readonly config: IssuerConfig;
  /** Signed by its first key, for five minutes from `now` on. */
  token(claims?: Claims, options?: TokenOptions): string;
}

/** Unix seconds at which the tokens of tests are made: when manualClock and manualTime start. */
export const now = 1_760_000_000;

const curves = { ES256: "P-256", ES384: "P-384", ES512: "P-521" } as const;

export function keyPair(kid: string, algorithm: SignatureAlgorithm = "ES256"): IssuerKeyPair {
  const { privateKey, publicKey } = pairOf(algorithm);
  const jwk = publicKey.export({ format: "jwk" }) as Readonly<Record<string, string>>;
  return { kid, algorithm, privateKey, published: { kid, algorithms: [algorithm], jwk } };
}

function pairOf(algorithm: SignatureAlgorithm): { readonly privateKey: KeyObject; readonly publicKey: KeyObject } {
  if (algorithm === "EdDSA" || algorithm === "Ed25519") return generateKeyPairSync("ed25519");
  if (algorithm === "ES256" || algorithm === "ES384" || algorithm === "ES512") {
    return generateKeyPairSync("ec", { namedCurve: curves[algorithm] });
  }
  return generateKeyPairSync("rsa", { modulusLength: 2_048 });
}

/** Callers are Users with Write by their claim `sub`, for the audience `shop`. */
export function testIssuer(
  name: string,
  config: Partial<IssuerConfig> = {},
  keys = [keyPair(`${name}-1`)],
): TestIssuer {
  const url = `https://${name}.example`;
  return {
    config: {
      name,
      url,
      audiences: ["shop"],
      usernameClaim: "sub",
      claimRules: [],
      access: "Write",
      administrators: [],
      keysAreFetched: true,
      keys: keys.map(({ published }) => published),
      ...config,
    },
    token: (claims = {}, options = {}) => {
      const right = { iss: config.url ?? url, aud: "shop", sub: "ada", iat: now, exp: now + 300 };
      return signedBy(options.key ?? (keys[0] as IssuerKeyPair), { ...right, ...claims }, options);
    },
  };
}

export function withIssuer({ config }: Pick<TestIssuer, "config">, changes: Partial<IssuerConfig> = {}): Modifier {
  return (parts) => ({ ...parts, issuers: new Map(parts.issuers).set(config.name, { ...config, ...changes }) });
}

export function withoutIssuer(name: string): Modifier {
  return (parts) => ({ ...parts, issuers: new Map([...parts.issuers].filter(([each]) => each !== name)) });
}

/** Of the cluster's own issuer. */
export function serviceAccountSubject(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

function signedBy(key: IssuerKeyPair, claims: Claims, { header, payload }: TokenOptions): string {
  const protectedHeader = JSON.stringify({ alg: key.algorithm, kid: key.kid, ...header });
  const input = `${base64url(protectedHeader)}.${base64url(payload ?? JSON.stringify(claims))}`;
  return `${input}.${base64url(signatureOf(key, Buffer.from(input)))}`;
}

function signatureOf({ algorithm, privateKey }: IssuerKeyPair, input: Buffer): Buffer {
  if (algorithm === "EdDSA" || algorithm === "Ed25519") return sign(null, input, privateKey);
  const digest = `sha${algorithm.slice(2)}`;
  if (algorithm.startsWith("ES")) return sign(digest, input, { key: privateKey, dsaEncoding: "ieee-p1363" });
  if (algorithm.startsWith("RS")) return sign(digest, input, privateKey);
  return sign(digest, input, { key: privateKey, padding: 6, saltLength: Number(algorithm.slice(2)) / 8 });
}

/** A token whose algorithm is a shared secret's, with the public key as that secret. */
export function signedWithPublicKey(token: string, jwk: JsonWebKey): string {
  const [, claims = ""] = token.split(".");
  const input = `${base64url(JSON.stringify({ alg: "HS256" }))}.${claims}`;
  return `${input}.${base64url(createHmac("sha256", JSON.stringify(jwk)).update(input).digest())}`;
}

function base64url(bytes: Buffer | string): string {
  return Buffer.from(bytes).toString("base64url");
}
