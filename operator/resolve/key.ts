// Turns an ApiKey and its Secret into the hashes to publish. A key is made where there is no Secret
// with a valid HMAC, and where rotation.id is another one than it was made for. The key before goes
// on for the grace period. One write makes a key, so an interruption loses nothing.

import { durationSeconds } from "../../core/config/duration.ts";
import type { KeyConfig } from "../../core/config/types.ts";
import type { Secret } from "../../core/manifests/object.ts";
import { entryText } from "../../core/manifests/secret.ts";
import { rfc3339 } from "../../core/rfc3339.ts";
import type { LiveKeys } from "../model/credentials.ts";
import type { ApiKey } from "../model/objects.ts";
import { keySecretName } from "../model/secret-names.ts";
import type { Notice } from "../model/verdict.ts";
import { type CredentialEvent, credentialEvent } from "./credential-event.ts";
import { keyIdOf, mintApiKey, sha256Hex } from "./mint.ts";
import { type OwnSecret, ownSecret, type Rotation, readRotation, rewritten, writeOf } from "./own-secret.ts";
import { earliest, type Resolution, type ResolveTools, unresolved } from "./resolution.ts";

export interface KeyStatus {
  readonly keyID: string;
  readonly secretName: string;
  readonly rotationID?: string;
  readonly rotatedAt: string;
  readonly previousKeyExpiresAt?: string;
}

type KeyResolution = Resolution<LiveKeys, KeyStatus>;

/** Of a key without spec.rotation, as the CRD has it. */
const defaultGracePeriod = "24h";

/** `published`: what is live of this ApiKey now. */
export function resolveKey(key: ApiKey, published: readonly KeyConfig[], tools: ResolveTools): KeyResolution {
  const secret = ownSecret(key, keySecretName(key), tools, published.length > 0);
  if (!secret.ok) return unresolved(secret);
  const { content, isRestored } = secret.value;
  const apiKey = entryText(content, "apiKey");
  if (apiKey === undefined) return mint(key, secret.value, published, tools);
  const id = key.spec.rotation?.id;
  const rotation = readRotation(content) ?? assumedRotation(key, isRestored, tools.now);
  // Without spec.rotation, and with the id that it had before, the key stays.
  const isWanted = id !== undefined && id !== rotation.id;
  return isWanted ? mint(key, secret.value, published, tools) : keep(key, secret.value, { apiKey, rotation }, tools);
}

/** The hashes of a Secret, whoever made it; undefined: it contains no key. */
export function readLiveKeys(secret: Secret | undefined): LiveKeys | undefined {
  const apiKey = entryText(secret, "apiKey");
  const former = readRotation(secret)?.former;
  return apiKey === undefined ? undefined : [{ sha256: sha256Hex(apiKey) }, ...(former === undefined ? [] : [former])];
}

/** A restored key without the annotation counts as made for the present rotation. */
function assumedRotation({ spec, status }: ApiKey, isRestored: boolean, now: number): Rotation {
  const id = isRestored ? spec.rotation?.id : undefined;
  return { ...(id !== undefined && { id }), rotatedAt: status?.rotatedAt ?? rfc3339(now) };
}

interface Key {
  readonly apiKey: string;
  readonly rotation: Rotation;
}

function keep(key: ApiKey, secret: OwnSecret, kept: Key, tools: ResolveTools): KeyResolution {
  const { content, found, hasOwnAnnotations, isRestored } = secret;
  const entries = entriesOf(kept, tools);
  const isRight =
    hasOwnAnnotations && Object.entries(entries).every(([entry, text]) => entryText(content, entry) === text);
  const isWritten = !isRight && found?.immutable !== true;
  const writes = isWritten
    ? [writeOf(key, tools, found, { name: keySecretName(key), entries, rotation: kept.rotation })]
    : [];
  return { ...live(key, kept, tools.now), writes, events: rewritten(key, writes, isRestored) };
}

/** At most two keys work: the one before the former key ends here. */
function mint(
  key: ApiKey,
  { found, content }: OwnSecret,
  published: readonly KeyConfig[],
  tools: ResolveTools,
): KeyResolution {
  const { id, gracePeriod = defaultGracePeriod } = key.spec.rotation ?? {};
  const former = keyInUse(key, entryText(content, "apiKey"), published);
  const retiresAt = Math.floor(tools.now / 1000) + (durationSeconds(gracePeriod) ?? 0);
  const made: Key = {
    apiKey: mintApiKey(tools.random),
    rotation: {
      ...(id !== undefined && { id }),
      rotatedAt: rfc3339(tools.now),
      ...(former !== undefined && { former: { sha256: former, retiresAt } }),
    },
  };
  const entries = entriesOf(made, tools);
  // Of something that changes the Secret again and again, each repair makes another key.
  const causeId = JSON.stringify([id]);
  const write = { name: keySecretName(key), entries, rotation: made.rotation, causeId };
  const hadKey = former !== undefined || key.status?.keyID !== undefined;
  return {
    ...live(key, made, tools.now),
    writes: [writeOf(key, tools, found, write)],
    events: [hadKey ? rotated(key, former !== undefined && retiresAt * 1000 > tools.now, gracePeriod) : minted(key)],
  };
}

/**
 * SHA-256 of the key that clients have: the published one that works longest, else that of the
 * Secret. Where spec.expiresAt ends two at once, it is the one that the Secret or the status shows.
 */
function keyInUse({ status }: ApiKey, apiKey: string | undefined, published: readonly KeyConfig[]): string | undefined {
  const shown = apiKey === undefined ? undefined : sha256Hex(apiKey);
  const endOf = ({ expiresAt = Number.POSITIVE_INFINITY }: KeyConfig): number => expiresAt;
  const end = Math.max(...published.map(endOf));
  const longest = published.filter((each) => endOf(each) === end);
  const inUse =
    longest.find(({ sha256 }) => sha256 === shown) ??
    longest.find(({ sha256 }) => keyIdOf(sha256) === status?.keyID) ??
    longest[0];
  return inUse?.sha256 ?? shown;
}

function entriesOf({ apiKey }: Key, { baseUrl }: ResolveTools): Readonly<Record<string, string>> {
  return { apiKey, id: keyIdOf(sha256Hex(apiKey)), baseURL: baseUrl };
}

function live(
  key: ApiKey,
  { apiKey, rotation }: Key,
  now: number,
): Pick<KeyResolution, "credential" | "status" | "nextAt"> {
  const current = sha256Hex(apiKey);
  const { id, rotatedAt, former } = rotation;
  const retires = former === undefined ? 0 : former.retiresAt * 1000;
  const expires = Math.floor(Date.parse(key.spec.expiresAt ?? "") / 1000) * 1000;
  const nextAt = earliest([retires, Number.isNaN(expires) ? undefined : expires], now);
  const isFormerLive = former !== undefined && retires > now;
  return {
    credential: {
      ok: true,
      value: [{ sha256: current }, ...(isFormerLive ? [former] : [])],
      notices: expires <= now ? [expired] : [],
    },
    status: {
      keyID: keyIdOf(current),
      secretName: keySecretName(key),
      rotatedAt,
      ...(id !== undefined && { rotationID: id }),
      ...(isFormerLive && { previousKeyExpiresAt: rfc3339(retires) }),
    },
    ...(nextAt !== undefined && { nextAt }),
  };
}

const expired: Notice = {
  reason: "Expired",
  message: "The key has expired and is refused; set another time, or remove expiresAt",
  pointer: "/spec/expiresAt",
};

function minted(key: ApiKey): CredentialEvent {
  return credentialEvent(key, "CredentialMinted", `Created an API key in Secret "${keySecretName(key)}"`);
}

function rotated(key: ApiKey, isFormerLive: boolean, gracePeriod: string): CredentialEvent {
  const former = isFormerLive ? `keeps working for ${gracePeriod}` : "no longer works";
  const note = `Secret "${keySecretName(key)}" holds a new key; the former one ${former}`;
  return credentialEvent(key, "CredentialRotated", note);
}
