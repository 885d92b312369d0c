// Fetches what an issuer publishes: its discovery document (OpenID Connect Discovery 1.0), and then
// its key set. Refuses what is not this issuer's, and says why in a clause of our own words.

import { discoveryUrl } from "../../core/issuers/issuer-kind.ts";
import { readKeySet } from "../../core/issuers/key-set.ts";
import { canonicalJson } from "../../core/json/canonical.ts";
import { isObject } from "../../core/json/json-value.ts";
import { parseJson } from "../../core/json/parse-json.ts";
import { ApiFailure, ApiUnreachable, type KubeDocuments } from "../kube/api.ts";
import type { IssuerContent, IssuerEndpoints } from "../model/issuers.ts";
import { type FetchedText, FetchFailure, type FetchOptions, fetchText } from "./fetch-text.ts";

export interface FetchedIssuer extends IssuerContent {
  /**
   * What is wrong with it although it counts, as a clause: no earlier keys may stay in its place.
   */
  readonly fault?: string;
  /** Milliseconds after which it is to be fetched again. */
  readonly keepForMs: number;
}

/** Rejects with FetchFailure, or with the signal's reason. */
export async function fetchIssuer(url: string, options: FetchOptions): Promise<FetchedIssuer> {
  const document = await fetchNamed("discovery document", discoveryUrl(url), options);
  const { issuer, keySetUrl, endpoints } = readDiscovery(document.text, (each) => options.rules.mayFetch(each));
  // Another issuer's document would bring its keys under this one's name.
  if (issuer !== url) {
    const detail = `it names ${shown(issuer)}`;
    throw new FetchFailure("its discovery document names another issuer than this url, to the letter", { detail });
  }
  if (keySetUrl === undefined)
    throw new FetchFailure(`its discovery document has no jwks_uri that begins with ${options.rules.schemes}`);
  const set = await fetchNamed("key set", keySetUrl, options);
  return {
    url,
    ...keysOf(set.text),
    ...(endpoints !== undefined && { endpoints }),
    keepForMs: keepForMs(set.cacheControl),
  };
}

/**
 * The issuer of this cluster's ServiceAccount tokens, by the API server that the operator is
 * connected with. Where the discovery document says that the keys are makes no difference. Rejects
 * with FetchFailure, or with the signal's reason.
 */
export async function fetchClusterIssuer(api: KubeDocuments, signal: AbortSignal): Promise<FetchedIssuer> {
  const text = await documentAt(api, "/.well-known/openid-configuration", signal);
  const { issuer: url } = readDiscovery(text, () => false);
  if (url === "" || url.length > maxClusterUrlLength) {
    throw new FetchFailure("its discovery document names no usable issuer");
  }
  return { url, ...keysOf(await documentAt(api, "/openid/v1/jwks", signal)), keepForMs: seconds.usual * 1_000 };
}

const maxClusterUrlLength = 512;

async function documentAt(api: KubeDocuments, path: string, signal: AbortSignal): Promise<string> {
  try {
    return await api.getDocument(path, { signal });
  } catch (error) {
    if (error instanceof ApiUnreachable) throw new FetchFailure("the API server does not answer", { cause: error });
    if (!(error instanceof ApiFailure)) throw error;
    const lacksRight = error.status === 403 ? ": the operator's ServiceAccount lacks the right to it" : "";
    const clause = `the API server answered GET ${path} with status ${error.status}${lacksRight}`;
    throw new FetchFailure(clause, { cause: error });
  }
}

interface Discovered {
  /** As the document says it. */
  readonly issuer: string;
  /** Absent where it names none that may be fetched. */
  readonly keySetUrl?: string;
  /** Absent where it names none that may be used. */
  readonly endpoints?: IssuerEndpoints;
}

const maxDepth = 16;
const maxUrlLength = 2_048;

/** `mayUse` says of a URL whether it may be fetched from, or sent to a browser. */
function readDiscovery(text: string, mayUse: (url: URL) => boolean): Discovered {
  const document = canonicalJson(text, maxDepth).ok ? parseJson(text) : undefined;
  if (!isObject(document)) throw new FetchFailure("its discovery document is not a JSON object");
  const { issuer, jwks_uri: keySetUrl } = document;
  if (typeof issuer !== "string") throw new FetchFailure("its discovery document names no issuer");
  const { authorization_endpoint: authorizationEndpoint, token_endpoint: tokenEndpoint } = document;
  const canSignIn = isUsable(authorizationEndpoint, mayUse) && isUsable(tokenEndpoint, mayUse);
  const alwaysSendsIss = document["authorization_response_iss_parameter_supported"] === true;
  return {
    issuer,
    ...(isUsable(keySetUrl, mayUse) && { keySetUrl }),
    ...(canSignIn && { endpoints: { authorizationEndpoint, tokenEndpoint, alwaysSendsIss } }),
  };
}

function isUsable(url: unknown, mayUse: (url: URL) => boolean): url is string {
  if (typeof url !== "string" || url.length > maxUrlLength || !URL.canParse(url)) return false;
  const parsed = new URL(url);
  return parsed.username === "" && parsed.password === "" && parsed.hash === "" && mayUse(parsed);
}

/** A key whose private part the issuer has shown ends at once, and no other with it. */
function keysOf(text: string): Pick<FetchedIssuer, "keys" | "fault"> {
  const set = readKeySet(text);
  if (set.ok) return { keys: set.keys };
  const fault = `its key set ${set.fault}`;
  if (set.unexposed === undefined) throw new FetchFailure(fault);
  return { keys: set.unexposed, fault };
}

/** Characters of what an issuer says that a failure repeats. */
const maxShown = 200;

/**
 * In plain ASCII: a terminal may read other characters as a command, or turn the direction of what
 * follows.
 */
function shown(text: string): string {
  const escapeOf = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(text.slice(0, maxShown)).replaceAll(/[^ -~]/g, escapeOf);
}

async function fetchNamed(name: string, url: string, options: FetchOptions): Promise<FetchedText> {
  try {
    return await fetchText(new URL(url), options);
  } catch (error) {
    if (!(error instanceof FetchFailure)) throw error;
    const detail = `GET ${url}${connectionDetail(error.cause)}`;
    throw new FetchFailure(`when asked for its ${name}, ${error.message}`, { cause: error, detail });
  }
}

/**
 * How a connection failed. Not for a status: it says which ports are open, and what is behind them.
 */
function connectionDetail(cause: unknown): string {
  const { code, message = "" } = (cause ?? {}) as { readonly code?: unknown; readonly message?: string };
  if (typeof code !== "string") return "";
  const isPlain = /wrong.version.number|packet.length.too.long/i.test(`${code} ${message}`);
  return isPlain ? `: ${code}, the port does not speak TLS` : `: ${code}`;
}

const seconds = { least: 300, most: 86_400, usual: 3_600 };

/**
 * Milliseconds after which keys that came with this `Cache-Control` (RFC 9111) are fetched again:
 * from 5 minutes to a day.
 */
export function keepForMs(cacheControl: string | undefined): number {
  const directives = (cacheControl ?? "")
    .toLowerCase()
    .split(",")
    .map((each) => each.trim());
  if (directives.some((each) => each === "no-store" || /^no-cache\b/.test(each))) return seconds.least * 1_000;
  const [, found] = directives.map((each) => /^max-age="?(\d+)"?$/.exec(each)).find((each) => each !== null) ?? [];
  const age = found === undefined ? seconds.usual : Number(found);
  return Math.min(seconds.most, Math.max(seconds.least, age)) * 1_000;
}
