// Turns the text of a compact JWS into its header and claims, which prove nothing yet. Refuses with
// a sentence what is not two JSON objects in UTF-8 with unique member names: two programs could
// read others differently.

import type { JsonObject } from "../../../core/config/types.ts";
import { type SignatureAlgorithm, signatureAlgorithms } from "../../../core/issuers/algorithms.ts";
import { canonicalJsonOfBytes } from "../../../core/json/canonical.ts";
import { isObject } from "../../../core/json/json-value.ts";
import { parseJson } from "../../../core/json/parse-json.ts";

export interface UnverifiedToken {
  readonly algorithm: SignatureAlgorithm;
  /** The key that is said to have signed it. */
  readonly kid: string | undefined;
  readonly claims: JsonObject;
}

/** Claims are nested a few levels deep in practice. */
const maxDepth = 32;
const knownAlgorithms: ReadonlySet<string> = new Set(signatureAlgorithms);

/**
 * `text` has the form of a compact JWS. Returns a string, without a full stop, where it is refused.
 */
export function readToken(text: string): UnverifiedToken | string {
  const [header, claims] = text.split(".", 2).map(readPart);
  if (header === undefined || claims === undefined) {
    return "The token's header and claims must be JSON objects in UTF-8, without two members of one name";
  }
  const alg = memberOf(header, "alg");
  const kid = memberOf(header, "kid");
  if (!isAlgorithm(alg)) return `The token's algorithm (header alg) must be one of ${signatureAlgorithms.join(", ")}`;
  if (kid !== undefined && typeof kid !== "string") return "The token's key id (header kid) must be a string";
  const refusal = headerRefusal(header);
  return refusal ?? { algorithm: alg, kid, claims };
}

/** An own member only: `constructor` names no claim. */
export function memberOf(object: JsonObject, name: string): JsonObject[string] | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function readPart(part: string): JsonObject | undefined {
  const read = canonicalJsonOfBytes(Buffer.from(part, "base64url"), maxDepth);
  const value = read.ok ? parseJson(read.json.text) : undefined;
  return isObject(value) ? value : undefined;
}

/** Keys in the header (`jwk`, `jku`, `x5c`, `x5u`) are ignored: anybody can put one there. */
function headerRefusal(header: JsonObject): string | undefined {
  if (Object.hasOwn(header, "crit") || Object.hasOwn(header, "b64")) {
    return "Tokens with the header crit or b64 are not supported";
  }
  if (mediaTypeIn(header, "cty") === "jwt") return "Nested tokens (header cty) are not supported";
  // The type says what a token is for (RFC 8725, section 3.11); RFC 9068 has that of access tokens.
  const type = mediaTypeIn(header, "typ");
  if (type?.endsWith("+jwt") && type !== "at+jwt") {
    return "The token's type (header typ) says that it is for something else";
  }
  return undefined;
}

/** In lower case, without the prefix that may be left out. */
function mediaTypeIn(header: JsonObject, name: "cty" | "typ"): string | undefined {
  const value = memberOf(header, name);
  return typeof value === "string" ? value.toLowerCase().replace(/^application\//, "") : undefined;
}

function isAlgorithm(value: unknown): value is SignatureAlgorithm {
  return typeof value === "string" && knownAlgorithms.has(value);
}
