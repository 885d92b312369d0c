// Turns an Authorization header into the credential that it carries. Throws nothing: a malformed
// one is `malformed`, and costs a look at its first characters only.

import { isUtf8 } from "node:buffer";
import { maxPasswordBytes } from "../../core/password/hash-password.ts";

type Scheme = "apikey" | "bearer" | "basic";

/** Why the text after `bearer` is not a token: the header is too long, or it has another form. */
export type TokenFault = "too_long" | "no_compact_jws";

export type Authorization =
  | { readonly kind: "absent" }
  | { readonly kind: "apikey"; readonly key: string }
  /** A compact JWS. `mayBeOwn`: its signature has the length of ours. */
  | { readonly kind: "token"; readonly token: string; readonly mayBeOwn: boolean }
  /** The password as it was sent. */
  | { readonly kind: "basic"; readonly username: string; readonly password: string }
  | { readonly kind: "malformed"; readonly scheme: Scheme; readonly fault?: TokenFault }
  /** No scheme of ours, or no scheme at all. */
  | { readonly kind: "foreign" };

/** Characters of a header. Our own tokens and Basic credentials are far shorter. */
export const maxAuthorizationLength = 8192;
/** UTF-8 bytes. */
export const maxUsernameBytes = 256;

const absent: Authorization = Object.freeze({ kind: "absent" });
const foreign: Authorization = Object.freeze({ kind: "foreign" });

// Few spaces: each spelling of one credential has its own plans, which take memory.
const schemeAndRest = /^([A-Za-z]{5,6}) {1,4}(\S+)$/;
const schemeOnly = /^([A-Za-z]{5,6})(?![^ ])/;
const visible = /^[\x21-\x7e]+$/;
/**
 * Ed25519's 64 bytes. The last character has four unused bits, which are zero: one text per token.
 */
const ownCompactJws = /^[\w-]+\.[\w-]+\.[\w-]{85}[AQgw]$/;
/**
 * Of any length. Unused bits are zero, or a token would have many texts, each with its own plans.
 */
const anyCompactJws = /^[\w-]+\.[\w-]+\.(?:[\w-]{4})+(?:[\w-][AQgw]|[\w-]{2}[AEIMQUYcgkosw048])?$/;
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 7617 forbids control characters in a user-id.
const controlCharacter = /[\x00-\x1f\x7f]/;

export function parseAuthorization(header: string | undefined): Authorization {
  if (header === undefined) return absent;
  const scheme = schemeOf(header);
  if (scheme === undefined) return foreign;
  if (header.length > maxAuthorizationLength) return malformed(scheme, "too_long");
  const rest = schemeAndRest.exec(header)?.[2];
  if (rest === undefined) return malformed(scheme);
  return credentials[scheme](rest) ?? malformed(scheme, "no_compact_jws");
}

function malformed(scheme: Scheme, fault?: TokenFault): Authorization {
  return { kind: "malformed", scheme, ...(scheme === "bearer" && fault !== undefined && { fault }) };
}

function schemeOf(header: string): Scheme | undefined {
  const name = schemeOnly.exec(header.slice(0, 16))?.[1]?.toLowerCase();
  return name === "apikey" || name === "bearer" || name === "basic" ? name : undefined;
}

const credentials: Readonly<Record<Scheme, (rest: string) => Authorization | undefined>> = {
  apikey: (rest) => (visible.test(rest) ? { kind: "apikey", key: rest } : undefined),
  bearer(rest) {
    if (ownCompactJws.test(rest)) return { kind: "token", token: rest, mayBeOwn: true };
    return anyCompactJws.test(rest) ? { kind: "token", token: rest, mayBeOwn: false } : undefined;
  },
  basic: parseBasic,
};

/** RFC 7617: base64 of UTF-8 `user-id:password`. The first colon ends the user-id. */
function parseBasic(rest: string): Authorization | undefined {
  if (!base64.test(rest)) return undefined;
  const bytes = Buffer.from(rest, "base64");
  if (withoutPadding(bytes.toString("base64")) !== withoutPadding(rest) || !isUtf8(bytes)) return undefined;
  const text = bytes.toString("utf8");
  const colon = text.indexOf(":");
  if (colon < 1) return undefined;
  const username = text.slice(0, colon);
  const password = text.slice(colon + 1);
  if (controlCharacter.test(username) || Buffer.byteLength(username) > maxUsernameBytes) return undefined;
  // One more byte, for a trailing newline.
  if (Buffer.byteLength(password) > maxPasswordBytes + 1) return undefined;
  return { kind: "basic", username, password };
}

function withoutPadding(text: string): string {
  const end = text.indexOf("=");
  return end === -1 ? text : text.slice(0, end);
}
