// By which algorithms and keys external issuers may sign: checked by the operator before it
// publishes a key, and by a replica before it verifies with one.

/**
 * RFC 7518, and Ed25519 by its names of RFC 8037 and RFC 9864: nothing that needs a shared secret.
 */
export const signatureAlgorithms = [
  ...(["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"] as const),
  ...(["ES256", "ES384", "ES512", "EdDSA", "Ed25519"] as const),
] as const;
export type SignatureAlgorithm = (typeof signatureAlgorithms)[number];

/** Both names of one algorithm: whichever a key or a token says, the other is as good. */
export const ed25519Algorithms = ["EdDSA", "Ed25519"] as const satisfies readonly SignatureAlgorithm[];

/** Of a modulus. Larger ones take milliseconds to verify with. */
export const rsaBits = { min: 2_048, max: 8_192 } as const;

/** `crv` of a key for each (RFC 7518, section 3.4), and OpenSSL's name of that curve. */
export const ecCurves = [
  { algorithm: "ES256", crv: "P-256", namedCurve: "prime256v1" },
  { algorithm: "ES384", crv: "P-384", namedCurve: "secp384r1" },
  { algorithm: "ES512", crv: "P-521", namedCurve: "secp521r1" },
] as const satisfies readonly {
  readonly algorithm: SignatureAlgorithm;
  readonly crv: string;
  readonly namedCurve: string;
}[];
