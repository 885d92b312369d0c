// Reads what an issuer says of itself: its discovery document (OpenID Connect Discovery 1.0). Refuses a document that names no issuer.

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
  const alwaysSendsIss = document["authorization_response_iss_parameter_supported"] === true;
  const endpoints = canSignIn ? { endpoints: { authorizationEndpoint, tokenEndpoint, alwaysSendsIss } } : {};
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
