// Fetches the discovery document of an external issuer, and then its key set. Refuses what is not this issuer's, and says why in a clause of
// our own words.

import { discoveryUrl } from "../../core/issuers/issuer-kind.ts";
import { readKeySet } from "../../core/issuers/key-set.ts";
import type { IssuerContent } from "../model/issuers.ts";
import { readDiscovery } from "./discovery.ts";
import { type FetchedText, FetchFailure, type FetchOptions, fetchText } from "./fetch-text.ts";

export interface FetchedIssuer extends IssuerContent {
  /** What is wrong with it although it counts, as a clause: nothing of before may stay in its place. */
  readonly fault?: string;
  /** Milliseconds after which it is to be fetched again. */
  readonly keepForMs: number;
}

/** Characters of what an issuer says that a failure repeats. */
const maxShown = 200;

/** Rejects with FetchFailure, or with the signal's reason. */
export async function fetchIssuer(url: string, options: FetchOptions): Promise<FetchedIssuer> {
  const document = await part("discovery document", discoveryUrl(url), options);
  const discovery = readDiscovery(document.text, (each) => options.rules.mayFetch(each));
  if (!discovery.ok) throw new FetchFailure(discovery.fault);
  const { issuer, keySetUrl, endpoints } = discovery.value;
  // Another issuer's document would bring its keys under this one's name.
  if (issuer !== url) {
    const detail = `it names ${shown(issuer)}`;
    throw new FetchFailure("its discovery document names another issuer than this url, to the letter", { detail });
  }
  if (keySetUrl === undefined)
    throw new FetchFailure(`its discovery document has no jwks_uri that begins with ${options.rules.schemes}`);
  const set = await part("key set", keySetUrl, options);
  return {
    url,
    ...keysOf(set.text),
    ...(endpoints !== undefined && { endpoints }),
    keepForMs: keepForMs(set.cacheControl),
  };
}

/** A key whose private part the issuer has shown ends at once, and no other with it. */
export function keysOf(text: string): Pick<FetchedIssuer, "keys" | "fault"> {
  const set = readKeySet(text);
  if (set.ok) return { keys: set.keys };
  const fault = `its key set ${set.fault}`;
  if (set.unexposed === undefined) throw new FetchFailure(fault);
  return { keys: set.unexposed, fault };
}

/** In plain ASCII: a terminal may take other characters for a command, or turn the direction of what follows. */
function shown(text: string): string {
  const escapeOf = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(text.slice(0, maxShown)).replaceAll(/[^ -~]/g, escapeOf);
}

async function part(name: string, url: string, options: FetchOptions): Promise<FetchedText> {
  try {
    return await fetchText(new URL(url), options);
  } catch (error) {
    if (!(error instanceof FetchFailure)) throw error;
    const detail = `GET ${url}${connectionDetail(error.cause)}`;
    throw new FetchFailure(`when asked for its ${name}, ${error.message}`, { cause: error, detail });
  }
}

/** Of how a connection failed. Nothing of it is for a status: it tells which ports are open, and what is behind them. */
function connectionDetail(cause: unknown): string {
  const { code, message = "" } = (cause ?? {}) as { readonly code?: unknown; readonly message?: string };
  if (typeof code !== "string") return "";
  const isPlain = /wrong.version.number|packet.length.too.long/i.test(`${code} ${message}`);
  return isPlain ? `: ${code}, the port does not speak TLS` : `: ${code}`;
}

const seconds = { least: 300, most: 86_400, usual: 3_600 };

/** Milliseconds after which keys that came with this `Cache-Control` (RFC 9111) are fetched again: from 5 minutes to a day. */
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
