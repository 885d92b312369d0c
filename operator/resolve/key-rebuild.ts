// Rebuilds what was remembered of an ApiKey after its hash Secret was lost: from the Secret that shows the key, and from what
// is published. Answers with nothing when neither says anything.

import { durationSeconds } from "../../core/config/duration.ts";
import type { KeyConfig } from "../../core/config/types.ts";
import type { ApiKey } from "../objects.ts";
import type { KeyRecord } from "./key-record.ts";
import { keyIdOf } from "./mint.ts";
import { rfc3339 } from "./resolution.ts";
import type { ShownKey } from "./resolve-key.ts";

export interface KeyTraces {
  readonly key: ApiKey;
  readonly shown: ShownKey | undefined;
  readonly published: readonly KeyConfig[];
  /** Unix milliseconds. */
  readonly now: number;
}

export function rebuildKeyRecord(traces: KeyTraces): KeyRecord | undefined {
  const { key, shown, published, now } = traces;
  const [longest] = [...published].sort(bySurvival);
  const current = isCurrent(traces) ? shown?.sha256 : longest?.sha256;
  if (current === undefined) return undefined;
  const rotationId = shown?.sha256 === current && shown.mark !== undefined ? shown.mark.id : assumedRotation(key);
  const former = [...published].sort(bySurvival).find(({ sha256 }) => sha256 !== current);
  const grace = published.some(({ sha256 }) => sha256 === current) ? undefined : graceEnd(key, now);
  const retiresAt = earlierOf(former?.expiresAt, grace);
  return {
    current,
    rotatedAt: rfc3339(now),
    ...(rotationId !== undefined && { rotationId }),
    ...(former !== undefined && retiresAt !== undefined && { former: { sha256: former.sha256, retiresAt } }),
  };
}

/**
 * The shown key is the one in force when it is published, when its mark says that it comes after the published one, or when
 * nothing is published. One that somebody wrote over a published key is not, nor is one from an older backup.
 */
function isCurrent({ shown, published }: KeyTraces): boolean {
  if (shown === undefined) return false;
  const { sha256: own, mark } = shown;
  return published.length === 0 || published.some(({ sha256 }) => sha256 === own || keyIdOf(sha256) === mark?.after);
}

/** What the status remembers; without one, no rotation is outstanding. */
function assumedRotation(key: ApiKey): string | undefined {
  return key.status?.keyID === undefined ? key.spec.rotation?.id : key.status.rotationID;
}

function graceEnd(key: ApiKey, now: number): number {
  return Math.floor(now / 1000) + (durationSeconds(key.spec.rotation?.gracePeriod ?? "") ?? 0);
}

function earlierOf(a: number | undefined, b: number | undefined): number | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return Math.min(a, b);
}

/** The key that lives longest first. */
function bySurvival(a: KeyConfig, b: KeyConfig): number {
  return (b.expiresAt ?? Number.POSITIVE_INFINITY) - (a.expiresAt ?? Number.POSITIVE_INFINITY) || 0;
}
