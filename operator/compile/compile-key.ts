// Turns an ApiKey and its resolved keys into what authentication looks up: one entry per live key, at most the current one
// and one that lives out its grace period. A key whose Secret can't be had goes on working, with the role, the access and the
// expiry that the spec says now, if that is earlier.

import type { KeyConfig } from "../../core/config/types.ts";
import type { LiveKeys, Resolved } from "../model/credentials.ts";
import type { ApiKey } from "../model/objects.ts";
import { type Evaluation, refuse } from "../model/verdict.ts";

/** `lastGood` = what is published of this ApiKey. */
export function compileKey(
  key: ApiKey,
  credential: Resolved<LiveKeys>,
  lastGood: readonly KeyConfig[],
): Evaluation<readonly KeyConfig[]> {
  const expiry = expirySeconds(key.spec.expiresAt);
  if (expiry === "invalid")
    return refuse("InvalidSpec", "Must be a time such as 2030-01-31T00:00:00Z", "/spec/expiresAt");
  const live = (sha256: string, end: number | undefined): KeyConfig => configOf(key, sha256, earlier(expiry, end));
  if (credential.ok) {
    const value = credential.value.map(({ sha256, retiresAt }) => live(sha256, retiresAt));
    return { ok: true, value, notices: credential.notices ?? [] };
  }
  return { ...credential, instead: lastGood.map(({ sha256, expiresAt }) => live(sha256, expiresAt)) };
}

function configOf(key: ApiKey, sha256: string, expiresAt: number | undefined): KeyConfig {
  const { metadata, spec } = key;
  const config = {
    name: metadata.name,
    uid: metadata.uid,
    description: spec.description ?? "",
    role: spec.role,
    access: spec.access,
    sha256,
  };
  return expiresAt === undefined ? config : { ...config, expiresAt };
}

function expirySeconds(expiresAt: string | undefined): number | undefined | "invalid" {
  if (expiresAt === undefined) return undefined;
  const milliseconds = Date.parse(expiresAt);
  return Number.isNaN(milliseconds) ? "invalid" : Math.floor(milliseconds / 1000);
}

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.min(a, b);
}
