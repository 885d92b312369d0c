// Turns the claims of a token whose signature is right into a caller, by the configuration of its
// issuer, and a time for which that is valid. Refuses with a sentence: its reader has proved to
// have a token of the issuer.

import type { Access, IssuerConfig, Json, JsonObject, Role } from "../../../core/config/types.ts";
import { isClusterIssuer } from "../../../core/issuers/issuer-kind.ts";
import type { ExternalCaller } from "../caller.ts";
import { memberOf } from "./read-token.ts";

/** Unix milliseconds; `validUntil` is excluded. */
export interface Validity {
  readonly validFrom: number;
  readonly validUntil: number;
}

export interface ExternalGrant extends Validity {
  readonly caller: ExternalCaller;
}

/** How far an issuer's clock and ours may differ. */
export const skewSeconds = 60;
export const maxUsernameBytes = 256;

/** Words with spaces between them, where they are strings (RFC 8693, section 4.2, and RFC 9068). */
const scopeClaims: ReadonlySet<string> = new Set(["scope", "scp"]);

/** The last second that a date can have. */
const maxSeconds = 8_640_000_000_000;
/** Names that differ only in such characters look the same; RFC 8264 forbids them in usernames. */
const unseenCharacter = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

/** Answers with why it is refused, as a sentence without a full stop. */
export function grantOf(issuer: IssuerConfig, claims: JsonObject): ExternalGrant | string {
  const validity = validityOf(issuer, claims);
  if (typeof validity === "string") return validity;
  const refusal = claimRefusal(issuer, claims);
  if (refusal !== undefined) return refusal;
  const username = memberOf(claims, issuer.usernameClaim);
  if (!isUsername(username)) {
    return `The token's claim ${issuer.usernameClaim} must be a string of 1 to ${maxUsernameBytes} bytes without control, format and other invisible characters`;
  }
  const rights = rightsOf(issuer, claims);
  if (rights === undefined) return "The token's ServiceAccount is not one that this project lets in";
  return { caller: { kind: "external", issuer: issuer.name, username, ...rights }, ...validity };
}

/** When a token for one of the issuer's audiences is valid, or why it never is. */
export function validityOf(issuer: IssuerConfig, claims: JsonObject): Validity | string {
  return audienceRefusal(issuer, claims) ?? timesOf(claims);
}

function timesOf(claims: JsonObject): Validity | string {
  const [exp, nbf = 0, iat = 0] = ["exp", "nbf", "iat"].map((name) => memberOf(claims, name));
  if (exp === undefined) return "The token has no claim exp: only tokens that expire are accepted";
  if (!isTime(exp) || !isTime(nbf) || !isTime(iat))
    return "The token's claims exp, nbf and iat must be numbers of seconds";
  return { validFrom: (Math.max(nbf, iat) - skewSeconds) * 1_000, validUntil: (exp + skewSeconds) * 1_000 };
}

/** `aud` is a string or an array. */
function audienceRefusal({ audiences }: IssuerConfig, claims: JsonObject): string | undefined {
  const values = valuesOf(claims, "aud");
  if (audiences.some((audience) => values.includes(audience))) return undefined;
  return "The token is for another audience: its claim aud has none that this project accepts of its issuer";
}

function claimRefusal({ claimRules }: IssuerConfig, claims: JsonObject): string | undefined {
  const failed = claimRules.find(
    ({ claim, requiredValue }) => !valuesOf(claims, claim).some((value) => textOf(value) === requiredValue),
  );
  return failed && `The token's claim ${failed.claim} does not have the value that this project requires`;
}

/** Where ServiceAccounts are listed, nobody else is let in: undefined. */
function rightsOf(
  issuer: IssuerConfig,
  claims: JsonObject,
): { readonly role: Role; readonly access: Access } | undefined {
  if (!isClusterIssuer(issuer)) {
    const { administrators, access } = issuer;
    const isAdministrator = administrators.some(({ claim, contains }) => valuesOf(claims, claim).includes(contains));
    return { role: isAdministrator ? "Administrators" : "Users", access };
  }
  const subject = memberOf(claims, "sub");
  const listed = issuer.serviceAccounts.find(
    ({ namespace, name }) => subject === `system:serviceaccount:${namespace}:${name}`,
  );
  return listed && { role: listed.role, access: listed.access };
}

/** The values of a claim: of an array, of the words of a scope, or itself. */
function valuesOf(claims: JsonObject, claim: string): readonly Json[] {
  const value = memberOf(claims, claim);
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  return scopeClaims.has(claim) && typeof value === "string" ? value.split(" ") : [value];
}

/** Undefined also for a large number, which is not exact: one id would pass for another. */
function textOf(value: Json | undefined): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "number" && Math.abs(value) > Number.MAX_SAFE_INTEGER) return undefined;
  return typeof value === "number" || typeof value === "boolean" ? JSON.stringify(value) : undefined;
}

/** It becomes part of an owner's name, which has to be the same text wherever it is written. */
function isUsername(value: Json | undefined): value is string {
  if (typeof value !== "string" || value === "" || unseenCharacter.test(value)) return false;
  return value.isWellFormed() && Buffer.byteLength(value) <= maxUsernameBytes;
}

function isTime(value: Json): value is number {
  return typeof value === "number" && Math.abs(value) <= maxSeconds;
}
