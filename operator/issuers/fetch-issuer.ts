// Fetches the discovery document of an external issuer, and then its key set. Refuses what is not this issuer's, and says why in a clause of
// our own words.

import type { IssuerKey } from "../../core/config/types.ts";
import type { IssuerContent } from "../model/issuers.ts";
import { discoveryUrl, keepForMs, readDiscovery } from "./discovery.ts";
import { FetchFailure, type FetchOptions, fetchText } from "./fetch-text.ts";
import { readKeySet } from "./key-set.ts";

export interface FetchedIssuer extends IssuerContent {
  /** Milliseconds after which it is to be fetched again. */
  readonly keepForMs: number;
}

/** Rejects with FetchFailure, or with the signal's reason. */
export async function fetchIssuer(url: string, options: FetchOptions): Promise<FetchedIssuer> {
  const document = await part("discovery document", () => fetchText(new URL(discoveryUrl(url)), options));
  const discovery = readDiscovery(document.text, (each) => options.rules.mayFetch(each));
  if (!discovery.ok) throw new FetchFailure(discovery.fault);
  const { issuer, keySetUrl, endpoints } = discovery.value;
  // Another issuer's document would bring its keys under this one's name.
  if (issuer !== url)
    throw new FetchFailure("its discovery document names another issuer than this url, to the letter");
  if (keySetUrl === undefined)
    throw new FetchFailure("its discovery document has no jwks_uri that begins with https://");
  const set = await part("key set", () => fetchText(new URL(keySetUrl), options));
  const keys = keysOf(set.text);
  return { url, keys, ...(endpoints !== undefined && { endpoints }), keepForMs: keepForMs(set.cacheControl) };
}

export function keysOf(text: string): readonly IssuerKey[] {
  const set = readKeySet(text);
  if (!set.ok) throw new FetchFailure(`its key set ${set.fault}`);
  return set.keys;
}

async function part<T>(name: string, fetch: () => Promise<T>): Promise<T> {
  try {
    return await fetch();
  } catch (error) {
    if (!(error instanceof FetchFailure)) throw error;
    throw new FetchFailure(`when asked for its ${name}, ${error.message}`, { cause: error });
  }
}
