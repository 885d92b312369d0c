// Turns an ApiKey and its Secrets into the hashes to publish. A key is minted once, when there has never been one, and when
// rotation.id changes; it is never minted anew because its Secret went away. Refuses foreign Secrets and lost keys.

import { durationSeconds } from "../../core/config/duration.ts";
import type { KeyConfig } from "../../core/config/types.ts";
import type { Secret } from "../../core/manifests/object.ts";
import type { LiveKeys } from "../credentials.ts";
import type { ApiKey } from "../objects.ts";
import { isOwn, keyHashSecretName, keySecretName } from "../secret-names.ts";
import { type Notice, refuse } from "../verdict.ts";
import { type KeyRecord, readKeyRecord } from "./key-record.ts";
import { keyIdOf, mintApiKey, sha256Hex } from "./mint.ts";
import { type Resolution, type ResolveTools, rfc3339 } from "./resolution.ts";
import { sealRecord } from "./sealed-record.ts";
import { entryText, type SecretWrite, writeOf } from "./secret-write.ts";

export interface KeyStatus {
  readonly keyID: string;
  readonly secretName: string;
  readonly rotationID?: string;
  readonly rotatedAt: string;
  readonly previousKeyExpiresAt?: string;
}

interface Found {
  readonly secret: Secret | undefined;
  readonly hashSecret: Secret | undefined;
}

/** A record, and what has to be written so that it holds. */
interface Settled {
  readonly record: KeyRecord;
  readonly writes: readonly SecretWrite[];
  readonly notices: readonly Notice[];
}

/** `published` = what is live of this ApiKey now; the last resort when both Secrets are gone. */
export function resolveKey(
  key: ApiKey,
  published: readonly KeyConfig[],
  tools: ResolveTools,
): Resolution<LiveKeys, KeyStatus> {
  const found: Found = {
    secret: tools.findSecret(keySecretName(key)),
    hashSecret: tools.findSecret(keyHashSecretName(key)),
  };
  const foreign = [found.secret, found.hashSecret].find((secret) => secret !== undefined && !isOwn(secret, key));
  if (foreign !== undefined) {
    const message = `Secret "${foreign.metadata.name}" was not made for this ApiKey; delete it or choose another spec.secretName`;
    return { credential: refuse("SecretConflict", message), writes: [] };
  }
  const settled = settle(key, { found, published, tools });
  if (settled === undefined) {
    const message =
      "The key can't be recovered, neither from its Secret nor from what is published; change spec.rotation.id";
    return { credential: refuse("KeyLost", message), writes: [] };
  }
  const { record, writes, notices } = settled;
  return {
    credential: { ok: true, value: liveKeys(record, tools.now), notices },
    writes,
    status: statusOf(key, record),
  };
}

interface Situation {
  readonly found: Found;
  readonly published: readonly KeyConfig[];
  readonly tools: ResolveTools;
}

function settle(key: ApiKey, situation: Situation): Settled | undefined {
  const { found, published, tools } = situation;
  const known = readKeyRecord(found.hashSecret, { key: tools.projectKey, owner: key });
  if (known !== undefined)
    return rotationWanted(key, known) ? mint(key, situation, known) : keep(key, situation, known);

  const apiKey = entryText(found.secret, "apiKey");
  if (apiKey !== undefined) {
    const record = firstRecord(key, sha256Hex(apiKey), tools.now);
    return {
      record,
      writes: [...repair(key, found.secret, { apiKey, tools }), hashWrite(key, situation, record)],
      notices: [],
    };
  }
  const [current, former] = [...published].sort(bySurvival);
  if (current !== undefined) {
    const rebuilt = firstRecord(key, current.sha256, tools.now);
    const record =
      former?.expiresAt === undefined
        ? rebuilt
        : { ...rebuilt, former: { sha256: former.sha256, retiresAt: former.expiresAt } };
    return { record, writes: [hashWrite(key, situation, record)], notices: [notRetrievable(key)] };
  }
  const rotatedSince = key.status?.rotationID !== key.spec.rotation?.id && key.spec.rotation !== undefined;
  return key.status?.keyID === undefined || rotatedSince ? mint(key, situation, undefined) : undefined;
}

/** Taking `rotation` out again is no rotation; putting the same id back isn't either. */
function rotationWanted(key: ApiKey, record: KeyRecord): boolean {
  const id = key.spec.rotation?.id;
  return id !== undefined && id !== record.rotationId;
}

function mint(key: ApiKey, situation: Situation, known: KeyRecord | undefined): Settled {
  const { found, tools } = situation;
  const apiKey = mintApiKey(tools.random);
  const first = firstRecord(key, sha256Hex(apiKey), tools.now);
  const grace = durationSeconds(key.spec.rotation?.gracePeriod ?? "") ?? 0;
  const retiresAt = Math.floor(tools.now / 1000) + grace;
  const record = known === undefined ? first : { ...first, former: { sha256: known.current, retiresAt } };
  const secret = keyWrite(key, found.secret, { apiKey, tools });
  return { record, writes: [secret, hashWrite(key, situation, record)], notices: [] };
}

function keep(key: ApiKey, { found, tools }: Situation, record: KeyRecord): Settled {
  const apiKey = entryText(found.secret, "apiKey");
  if (apiKey === undefined || sha256Hex(apiKey) !== record.current) {
    return { record, writes: [], notices: [notRetrievable(key)] };
  }
  return { record, writes: repair(key, found.secret, { apiKey, tools }), notices: [] };
}

function notRetrievable(key: ApiKey): Notice {
  const message = `Secret "${keySecretName(key)}" no longer holds the key, which goes on working; change spec.rotation.id for a new one`;
  return { reason: "KeyNotRetrievable", message };
}

interface KeySecretContent {
  readonly apiKey: string;
  readonly tools: ResolveTools;
}

/** Rewrites the Secret when what stands beside the key is not what it should be. */
function repair(key: ApiKey, secret: Secret | undefined, content: KeySecretContent): readonly SecretWrite[] {
  const wanted = keyWrite(key, secret, content);
  const right = Object.entries(wanted.entries).every(([entry, text]) => entryText(secret, entry) === text);
  return right ? [] : [wanted];
}

function keyWrite(key: ApiKey, secret: Secret | undefined, { apiKey, tools }: KeySecretContent): SecretWrite {
  const entries = { apiKey, id: keyIdOf(sha256Hex(apiKey)), baseURL: tools.baseUrl };
  return writeOf(key, secret, { name: keySecretName(key), entries });
}

function hashWrite(key: ApiKey, { found, tools }: Situation, record: KeyRecord): SecretWrite {
  const entries = sealRecord({ ...record }, { key: tools.projectKey, owner: key });
  return writeOf(key, found.hashSecret, { name: keyHashSecretName(key), entries });
}

function firstRecord(key: ApiKey, current: string, now: number): KeyRecord {
  const record = { current, rotatedAt: rfc3339(now) };
  return key.spec.rotation === undefined ? record : { ...record, rotationId: key.spec.rotation.id };
}

function liveKeys({ current, former }: KeyRecord, now: number): LiveKeys {
  const retiring = former !== undefined && former.retiresAt * 1000 > now ? [former] : [];
  return [{ sha256: current }, ...retiring];
}

function statusOf(key: ApiKey, { current, former, rotationId, rotatedAt }: KeyRecord): KeyStatus {
  return {
    keyID: keyIdOf(current),
    secretName: keySecretName(key),
    rotatedAt,
    ...(rotationId !== undefined && { rotationID: rotationId }),
    ...(former !== undefined && { previousKeyExpiresAt: rfc3339(former.retiresAt * 1000) }),
  };
}

/** The key that lives longest is the current one. */
function bySurvival(a: KeyConfig, b: KeyConfig): number {
  return (b.expiresAt ?? Number.POSITIVE_INFINITY) - (a.expiresAt ?? Number.POSITIVE_INFINITY) || 0;
}
