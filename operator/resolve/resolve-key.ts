// Turns an ApiKey and its Secrets into the hashes to publish. A key is minted once for each object, and when rotation.id changes;
// it is never minted again because its Secret went away. Refuses Secrets that nothing proves to be this object's, and lost keys.

import { durationSeconds } from "../../core/config/duration.ts";
import type { KeyConfig } from "../../core/config/types.ts";
import { entryText } from "../../core/manifests/secret.ts";
import { rfc3339 } from "../../core/rfc3339.ts";
import type { LiveKeys } from "../model/credentials.ts";
import type { ApiKey } from "../model/objects.ts";
import { keyHashSecretName, keySecretName } from "../model/secret-names.ts";
import { type Notice, refuse } from "../model/verdict.ts";
import { type CredentialEvent, credentialEvent } from "./credential-event.ts";
import { rebuildKeyRecord, type ShownKey } from "./key-rebuild.ts";
import { type KeyRecord, readKeyRecord } from "./key-record.ts";
import { keyIdOf, mintApiKey, sha256Hex } from "./mint.ts";
import { earliest, type Resolution, type ResolveTools } from "./resolution.ts";
import { isMarkedFor, markOf, readMark } from "./rotation-mark.ts";
import type { Sealing } from "./secret-seal.ts";
import { type SecretWrite, writeOf } from "./secret-write.ts";
import { rewritten, sealingOf, type UsableSecret, usableSecret } from "./usable-secret.ts";

export interface KeyStatus {
  readonly keyID: string;
  readonly secretName: string;
  readonly rotationID?: string;
  readonly rotatedAt: string;
  readonly previousKeyExpiresAt?: string;
}

interface KeyContext {
  readonly key: ApiKey;
  readonly secret: UsableSecret;
  readonly hashSecret: UsableSecret;
  readonly shown: ShownKey | undefined;
  readonly published: readonly KeyConfig[];
  readonly tools: ResolveTools;
  readonly sealing: Sealing;
}

/** A record, and what has to be written so that it holds. */
interface ResolvedKey {
  readonly record: KeyRecord;
  readonly writes: readonly SecretWrite[];
  readonly events: readonly CredentialEvent[];
  readonly notices: readonly Notice[];
}

/** `published` = what is live of this ApiKey now; the last resort when both Secrets are gone. */
export function resolveKey(
  key: ApiKey,
  published: readonly KeyConfig[],
  tools: ResolveTools,
): Resolution<LiveKeys, KeyStatus> {
  const sealing = sealingOf(key, tools);
  const use = { sealing, tools, isPublished: published.length > 0 };
  const secret = usableSecret(keySecretName(key), use);
  const hashSecret = usableSecret(keyHashSecretName(key), use);
  if (!secret.ok) return { credential: secret, writes: [], events: [] };
  if (!hashSecret.ok) return { credential: hashSecret, writes: [], events: [] };
  const shown = shownKey(secret.value, sealing);
  const secrets = { secret: secret.value, hashSecret: hashSecret.value };
  const resolved = resolvedKey({ key, ...secrets, shown, published, tools, sealing });
  return resolved === undefined ? lost() : resolutionOf(key, resolved, tools.now);
}

function resolvedKey(context: KeyContext): ResolvedKey | undefined {
  const { key, hashSecret, shown, published, tools } = context;
  const recorded = readKeyRecord(hashSecret.content);
  const known = hashSecret.origin === "unproved" ? undefined : recorded;
  if (known !== undefined) return rotationWanted(key, known.rotationId) ? rotate(context, known) : keep(context, known);

  const rebuilt = rebuildKeyRecord({ key, shown, recorded, published, now: tools.now });
  if (rebuilt !== undefined && rotationWanted(key, rebuilt.rotationId)) return rotate(context, rebuilt);
  if (rebuilt !== undefined) return keep({ ...context, hashSecret: { ...hashSecret, isMarked: false } }, rebuilt);
  const everMade = key.status?.keyID !== undefined;
  return everMade && !rotationWanted(key, key.status?.rotationID) ? undefined : mint(context, undefined);
}

/** Taking `rotation` out again is no rotation; putting the same id back isn't either. */
function rotationWanted(key: ApiKey, known: string | undefined): boolean {
  const id = key.spec.rotation?.id;
  return id !== undefined && id !== known;
}

/** Goes on with the new key of a rotation that was interrupted, else makes one. */
function rotate(context: KeyContext, known: KeyRecord): ResolvedKey {
  const { key, shown, tools } = context;
  const made = isMarkedFor(shown?.mark(), key.spec.rotation?.id, keyIdOf(known.current));
  if (shown === undefined || !made) return mint(context, known);
  const record = recordAfter(known, { key, current: shown.sha256, now: tools.now });
  return {
    record,
    writes: [...repair(context, shown.apiKey, record.rotationId), hashWrite(context, record)],
    events: [rotated(key)],
    notices: [],
  };
}

function mint(context: KeyContext, known: KeyRecord | undefined): ResolvedKey {
  const { key, secret, tools, sealing } = context;
  const apiKey = mintApiKey(tools.random);
  const record = recordAfter(known, { key, current: sha256Hex(apiKey), now: tools.now });
  const id = key.spec.rotation?.id;
  const after = known === undefined ? {} : { after: keyIdOf(known.current) };
  const mark = markOf({ ...(id !== undefined && { id }), ...after }, apiKey, sealing);
  const causeId = JSON.stringify([id, after]);
  const shown = { name: keySecretName(key), entries: keyEntries(apiKey, tools), mark, causeId };
  const first = credentialEvent(key, "CredentialMinted", `Created an API key in Secret "${keySecretName(key)}"`);
  return {
    record,
    writes: [writeOf(sealing, secret.found, shown), hashWrite(context, record)],
    events: [known === undefined ? first : rotated(key)],
    notices: [],
  };
}

/** The record is written where it isn't what the hash Secret keeps. */
function keep(context: KeyContext, record: KeyRecord): ResolvedKey {
  const { key, secret, hashSecret, shown } = context;
  const isShown = shown !== undefined && shown.sha256 === record.current;
  const writes = [
    ...(isShown ? repair(context, shown.apiKey, record.rotationId) : []),
    ...(hashSecret.content === undefined || !hashSecret.isMarked ? [hashWrite(context, record)] : []),
  ];
  const origins = [secret.origin, hashSecret.origin];
  return { record, writes, events: rewritten(key, writes, origins), notices: isShown ? [] : [notRetrievable(key)] };
}

/** Rewrites the Secret when what stands beside the key is not what it should be. */
function repair(
  { key, secret, tools, sealing }: KeyContext,
  apiKey: string,
  rotationId: string | undefined,
): readonly SecretWrite[] {
  const entries = keyEntries(apiKey, tools);
  const { content, found, isMarked } = secret;
  const isRight = isMarked && Object.entries(entries).every(([entry, text]) => entryText(content, entry) === text);
  if (isRight || found?.immutable === true) return [];
  const mark = isMarked ? {} : { mark: markOf(rotationId === undefined ? {} : { id: rotationId }, apiKey, sealing) };
  return [writeOf(sealing, found, { name: keySecretName(key), entries, ...mark })];
}

function keyEntries(apiKey: string, { baseUrl }: ResolveTools): Readonly<Record<string, string>> {
  return { apiKey, id: keyIdOf(sha256Hex(apiKey)), baseURL: baseUrl };
}

function hashWrite({ key, hashSecret, sealing }: KeyContext, record: KeyRecord): SecretWrite {
  const causeId = JSON.stringify([record.current, record.rotationId]);
  const entries = { record: JSON.stringify(record) };
  return writeOf(sealing, hashSecret.found, { name: keyHashSecretName(key), entries, causeId });
}

function shownKey({ content, origin }: UsableSecret, sealing: Sealing): ShownKey | undefined {
  const apiKey = entryText(content, "apiKey");
  if (apiKey === undefined) return undefined;
  const isVouchedFor = origin === "restored";
  return { apiKey, sha256: sha256Hex(apiKey), isVouchedFor, mark: () => readMark(content, apiKey, sealing) };
}

interface NewKey {
  readonly key: ApiKey;
  readonly current: string;
  readonly now: number;
}

/** At most two keys live: the one before the known one ends here. */
function recordAfter(known: KeyRecord | undefined, { key, current, now }: NewKey): KeyRecord {
  const { rotation } = key.spec;
  const retiresAt = Math.floor(now / 1000) + (durationSeconds(rotation?.gracePeriod ?? "") ?? 0);
  return {
    current,
    rotatedAt: rfc3339(now),
    ...(rotation !== undefined && { rotationId: rotation.id }),
    ...(known !== undefined && { former: { sha256: known.current, retiresAt } }),
  };
}

function resolutionOf(key: ApiKey, resolved: ResolvedKey, now: number): Resolution<LiveKeys, KeyStatus> {
  const { record, writes, events, notices } = resolved;
  const retires = record.former === undefined ? undefined : record.former.retiresAt * 1000;
  const former = record.former !== undefined && record.former.retiresAt * 1000 > now ? [record.former] : [];
  const expires = Math.floor(Date.parse(key.spec.expiresAt ?? "") / 1000) * 1000;
  const nextAt = earliest([retires, Number.isNaN(expires) ? undefined : expires], now);
  const value: LiveKeys = [{ sha256: record.current }, ...former];
  const allNotices = expires <= now ? [...notices, expired] : notices;
  return {
    credential: { ok: true, value, notices: allNotices },
    writes,
    events,
    status: {
      keyID: keyIdOf(record.current),
      secretName: keySecretName(key),
      rotatedAt: record.rotatedAt,
      ...(record.rotationId !== undefined && { rotationID: record.rotationId }),
      ...(former[0] !== undefined && { previousKeyExpiresAt: rfc3339(former[0].retiresAt * 1000) }),
    },
    ...(nextAt !== undefined && { nextAt }),
  };
}

const expired: Notice = {
  reason: "Expired",
  message: "The key has expired and is refused; set another time, or remove expiresAt",
  pointer: "/spec/expiresAt",
};

function lost(): Resolution<LiveKeys, KeyStatus> {
  const message =
    "The key can't be recovered, neither from its Secret nor from what is published; change spec.rotation.id";
  return { credential: refuse("KeyLost", message), writes: [], events: [] };
}

function rotated(key: ApiKey): CredentialEvent {
  const { id, gracePeriod } = key.spec.rotation ?? {};
  const note = `Rotation "${id}": Secret "${keySecretName(key)}" holds a new key; the former one keeps working for ${gracePeriod}`;
  return credentialEvent(key, "CredentialRotated", note);
}

function notRetrievable(key: ApiKey): Notice {
  const message = `Secret "${keySecretName(key)}" no longer holds the key, which keeps working; change spec.rotation.id for a new one`;
  return { reason: "KeyNotRetrievable", message };
}
