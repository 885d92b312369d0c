// Finds the keys of an issuer that a token names, and imports each once. A key that can't be used
// counts as missing.

import { createPublicKey, type KeyObject } from "node:crypto";
import type { IssuerConfig, IssuerKey } from "../../../core/config/types.ts";
import { ecCurves, ed25519Algorithms, rsaBits, type SignatureAlgorithm } from "../../../core/issuers/algorithms.ts";
import type { UnverifiedToken } from "./read-token.ts";

/** Several keys may have one id (RFC 7517 §4.5). `ambiguous` = the token names none. */
export type FoundKeys = readonly KeyObject[] | "unknown" | "ambiguous";

/** Each costs a verification for every token that none of them signed. */
const maxKeysOfOneId = 4;

interface IssuerKeys {
  find(issuer: IssuerConfig, token: Pick<UnverifiedToken, "algorithm" | "kid">): FoundKeys;
}

export function createIssuerKeys(): IssuerKeys {
  // By the configuration object: an issuer that is replaced takes its keys with it.
  const imported = new WeakMap<IssuerKey, KeyObject | "unusable">();
  const importOnce = (key: IssuerKey): KeyObject | undefined => {
    const known = imported.get(key) ?? importKey(key);
    imported.set(key, known);
    return known === "unusable" ? undefined : known;
  };

  return {
    find(issuer, { algorithm, kid }) {
      const named = issuer.keys.filter((key) => kid === undefined || key.kid === kid);
      const fitting = named.flatMap((key) => {
        const usable = key.algorithms.includes(algorithm) ? importOnce(key) : undefined;
        return usable !== undefined && verifies(usable, algorithm) ? [usable] : [];
      });
      if (fitting.length === 0) return "unknown";
      return kid === undefined && fitting.length > 1 ? "ambiguous" : fitting.slice(0, maxKeysOfOneId);
    },
  };
}

function importKey({ jwk }: IssuerKey): KeyObject | "unusable" {
  try {
    return createPublicKey({ key: { ...jwk }, format: "jwk" });
  } catch {
    // The operator publishes only keys that it checked, but another version of it may have other
    // rules.
    return "unusable";
  }
}

/** A key of one type never verifies by an algorithm of another, whatever the issuer says. */
function verifies(
  { asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject,
  algorithm: SignatureAlgorithm,
): boolean {
  if (ed25519Algorithms.some((name) => name === algorithm)) return type === "ed25519";
  const curve = ecCurves.find((each) => each.algorithm === algorithm);
  if (curve !== undefined) return type === "ec" && details?.namedCurve === curve.namedCurve;
  const bits = details?.modulusLength ?? 0;
  return type === "rsa" && bits >= rsaBits.min && bits <= rsaBits.max;
}
