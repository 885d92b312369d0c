// Reads a JSON Web Key Set (RFC 7517) of an external issuer, fetched or from a manifest: which of
// its keys can verify tokens, and by which algorithms. Keys for something else are left out.
// Refuses a set that contains private or shared keys, and one without a usable key. Equal keys give
// equal results in the same order, so that a reordered set is no change.

import { createPublicKey, type JsonWebKey } from "node:crypto";
import type { IssuerKey } from "../config/types.ts";
import { canonicalJson } from "../json/canonical.ts";
import { isObject } from "../json/json-value.ts";
import { parseJson } from "../json/parse-json.ts";
import { ecCurves, ed25519Algorithms, rsaBits, type SignatureAlgorithm, signatureAlgorithms } from "./algorithms.ts";

export type KeySet =
  | { readonly ok: true; readonly keys: readonly IssuerKey[] }
  /**
   * `fault`: a clause that begins with what the set is or has, such as "has a private key", and
   * quotes nothing. `unexposed`: with that fault, the keys that can be used all the same.
   */
  | { readonly ok: false; readonly fault: string; readonly unexposed?: readonly IssuerKey[] };

/** Of keys that can be used. */
export const maxKeys = 64;
/** Of all keys, because each takes time to check. */
const maxEntries = 256;
const maxDepth = 8;
const maxKidBytes = 256;
const maxExponent = 2n ** 32n;

/** Members of private keys (RFC 7518, section 6) and of keys that are shared. */
const secretMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

export function readKeySet(text: string): KeySet {
  const checked = canonicalJson(text, maxDepth);
  if (!checked.ok) return { ok: false, fault: `is not usable JSON: ${lowerFirst(checked.error.reason)}` };
  const set = parseJson(text);
  const given = isObject(set) ? set["keys"] : undefined;
  if (!Array.isArray(given) || !given.every(isObject)) {
    return { ok: false, fault: 'is not a JSON Web Key Set, an object whose "keys" are objects' };
  }
  if (given.length > maxEntries) return { ok: false, fault: `has more than ${maxEntries} entries` };
  const keys = given.map(withoutNulls);
  const shown = keys.filter(isSecret);
  const usable = usableKeys(keys.filter((jwk) => !isSecret(jwk)));
  if (shown.length > 0) {
    const fault = "has a private or a shared key, which whoever reads it could sign with; it may have public keys only";
    // A private key that was shown may be in the set as a public key, too.
    const exposed = new Set(shown.flatMap((jwk) => usableKey(publicPart(jwk)) ?? []).map(materialOf));
    return { ok: false, fault, unexposed: usable.filter((key) => !exposed.has(materialOf(key))) };
  }
  if (usable.length > maxKeys) return { ok: false, fault: `has more than ${maxKeys} keys` };
  if (usable.length === 0) {
    const kinds = "RSA of 2048 to 8192 bits, EC on P-256, P-384 or P-521, or Ed25519";
    return { ok: false, fault: `has no public key for signatures that can be used: ${kinds}` };
  }
  return { ok: true, keys: usable };
}

/** In one order, each once. */
function usableKeys(given: readonly Jwk[]): readonly IssuerKey[] {
  const keys = new Map(given.flatMap((jwk) => usableKey(jwk) ?? []).map((key) => [orderOf(key), key]));
  return [...keys].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, key]) => key);
}

type Jwk = Readonly<Record<string, unknown>>;

/** Some issuers write null for a member that a key doesn't have. */
function withoutNulls(jwk: Jwk): Jwk {
  return Object.fromEntries(Object.entries(jwk).filter(([, value]) => value !== null));
}

function isSecret(jwk: Jwk): boolean {
  return jwk["kty"] === "oct" || secretMembers.some((member) => Object.hasOwn(jwk, member));
}

/** For whatever use it is meant. */
function publicPart({ kty, crv, x, y, n, e }: Jwk): Jwk {
  const members = { kty, crv, x, y, n, e };
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function materialOf({ jwk }: IssuerKey): string {
  return JSON.stringify(jwk);
}

function orderOf({ kid, algorithms, jwk }: IssuerKey): string {
  return JSON.stringify([kid ?? "", kid === undefined, jwk, algorithms]);
}

/** Undefined for a key that is for something else, or can't be used. */
function usableKey(jwk: Jwk): IssuerKey | undefined {
  const { kid, use, key_ops: operations, alg } = jwk;
  if (use !== undefined && use !== "sig") return undefined;
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes("verify"))) return undefined;
  if (kid !== undefined && !isKid(kid)) return undefined;
  const algorithms = namedAlgorithms(algorithmsOf(jwk), alg);
  // Importing takes time, and a set has up to 256 entries.
  const imported = algorithms.length === 0 ? undefined : imports(jwk);
  return imported && { ...(kid !== undefined && { kid }), algorithms, jwk: imported };
}

/** Of the algorithms that match the key, the one that it names. */
function namedAlgorithms(fitting: readonly SignatureAlgorithm[], alg: unknown): readonly SignatureAlgorithm[] {
  if (alg === undefined) return fitting;
  const named = fitting.filter((each) => each === alg);
  return named.some((each) => ed25519Algorithms.some((name) => name === each)) ? ed25519Algorithms : named;
}

function isKid(kid: unknown): kid is string {
  return typeof kid === "string" && kid.isWellFormed() && Buffer.byteLength(kid) <= maxKidBytes;
}

/**
 * In its one canonical form. Undefined for an unknown type, a point off the curve, a bad number.
 */
function imports(jwk: Jwk): IssuerKey["jwk"] | undefined {
  const members = memberNames(jwk);
  if (members === undefined) return undefined;
  const given = Object.fromEntries(members.map((name) => [name, jwk[name]]));
  if (!Object.values(given).every((value) => typeof value === "string")) return undefined;
  try {
    const key = createPublicKey({ key: given as JsonWebKey, format: "jwk" });
    if (key.asymmetricKeyType === "rsa" && !isSaneRsa(key.asymmetricKeyDetails)) return undefined;
    const exported = key.export({ format: "jwk" }) as Record<string, string>;
    return Object.fromEntries(members.map((name) => [name, exported[name] ?? ""]));
  } catch {
    return undefined;
  }
}

function memberNames({ kty }: Jwk): readonly string[] | undefined {
  if (kty === "RSA") return ["kty", "n", "e"];
  if (kty === "EC") return ["kty", "crv", "x", "y"];
  return kty === "OKP" ? ["kty", "crv", "x"] : undefined;
}

function algorithmsOf({ kty, crv }: Jwk): readonly SignatureAlgorithm[] {
  if (kty === "RSA") return signatureAlgorithms.filter((each) => each.startsWith("RS") || each.startsWith("PS"));
  if (kty === "OKP") return crv === "Ed25519" ? ed25519Algorithms : [];
  return kty === "EC" ? ecCurves.filter((curve) => curve.crv === crv).map(({ algorithm }) => algorithm) : [];
}

/** An exponent of 1 would take every text for a signature. */
function isSaneRsa({
  modulusLength = 0,
  publicExponent = 0n,
}: {
  modulusLength?: number;
  publicExponent?: bigint;
} = {}): boolean {
  const isSize = modulusLength >= rsaBits.min && modulusLength <= rsaBits.max;
  return isSize && publicExponent >= 3n && publicExponent < maxExponent && publicExponent % 2n === 1n;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
