// Reads what an issuer says of itself: its discovery document (OpenID Connect Discovery 1.0), and how long its keys may be kept. Refuses a
// document that names none.

import { canonicalJson } from "../../core/json/canonical.ts";
import { isObject } from "../../core/json/json-value.ts";
import { parseJson } from "../../core/json/parse-json.ts";
import type { IssuerEndpoints } from "../model/issuers.ts";

export interface Discovered {
  /** As the document says it. */
  readonly issuer: string;
  /** Absent where it names none that may be fetched. */
  readonly keySetUrl?: string;
  /** Absent where it names none that may be used. */
  readonly endpoints?: IssuerEndpoints;
}

export type Discovery =
  | { readonly ok: true; readonly value: Discovered }
  | { readonly ok: false; readonly fault: string };

const maxDepth = 16;
const maxUrlLength = 2_048;

/** The terminating slash of an issuer is left out before the path is added (OpenID Connect Discovery 1.0, section 4.1). */
export function discoveryUrl(issuer: string): string {
  return `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
}

/** `mayUse` says of a URL whether it may be fetched from, or sent to a browser. */
export function readDiscovery(text: string, mayUse: (url: URL) => boolean): Discovery {
  const checked = canonicalJson(text, maxDepth);
  if (!checked.ok || checked.json.kind !== "object") return refuse("its discovery document is not a JSON object");
  const document = parseJson(text);
  if (!isObject(document)) return refuse("its discovery document is not a JSON object");
  const { issuer, jwks_uri: keySetUrl } = document;
  if (typeof issuer !== "string") return refuse("its discovery document names no issuer");
  const { authorization_endpoint: authorizationEndpoint, token_endpoint: tokenEndpoint } = document;
  const canSignIn = isUsable(authorizationEndpoint, mayUse) && isUsable(tokenEndpoint, mayUse);
  const namesItself = document["authorization_response_iss_parameter_supported"] === true;
  const endpoints = canSignIn ? { endpoints: { authorizationEndpoint, tokenEndpoint, namesItself } } : {};
  return { ok: true, value: { issuer, ...(isUsable(keySetUrl, mayUse) && { keySetUrl }), ...endpoints } };
}

function refuse(fault: string): Discovery {
  return { ok: false, fault };
}

function isUsable(url: unknown, mayUse: (url: URL) => boolean): url is string {
  if (typeof url !== "string" || url.length > maxUrlLength || !URL.canParse(url)) return false;
  const parsed = new URL(url);
  return parsed.username === "" && parsed.password === "" && parsed.hash === "" && mayUse(parsed);
}

const seconds = { least: 300, most: 86_400, usual: 3_600 };

/** Milliseconds after which keys that came with this `Cache-Control` (RFC 9111) are fetched again: from 5 minutes to a day. */
export function keepForMs(cacheControl: string | undefined): number {
  const directives = (cacheControl ?? "")
    .toLowerCase()
    .split(",")
    .map((each) => each.trim());
  if (directives.some((each) => each === "no-store" || /^no-cache\b/.test(each))) return seconds.least * 1_000;
  const [, found] = directives.map((each) => /^max-age="?(\d{1,10})"?$/.exec(each)).find((each) => each !== null) ?? [];
  const age = found === undefined ? seconds.usual : Number(found);
  return Math.min(seconds.most, Math.max(seconds.least, age)) * 1_000;
}
