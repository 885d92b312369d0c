// Rebuilds what was remembered of an ApiKey after its hash Secret was lost: from the Secret that shows the key, and from what
// is published. Answers with nothing when neither says anything.

import type { KeyConfig } from "../../core/config/types.ts";
import { rfc3339 } from "../../core/rfc3339.ts";
import type { ApiKey } from "../model/objects.ts";
import type { KeyRecord } from "./key-record.ts";
import { keyIdOf } from "./mint.ts";
import type { RotationMark } from "./rotation-mark.ts";

/** The key as its Secret shows it. */
export interface ShownKey {
  readonly apiKey: string;
  readonly sha256: string;
  /** A person vouches for it: it was restored. */
  readonly isVouchedFor: boolean;
  /** Asked for only where a rotation or a loss has to be examined: it costs a seal. */
  readonly mark: () => RotationMark | undefined;
}

export interface KeyTraces {
  readonly key: ApiKey;
  readonly shown: ShownKey | undefined;
  /** Nothing proves it: only its rotation is taken, and only if its key is published. */
  readonly recorded: KeyRecord | undefined;
  readonly published: readonly KeyConfig[];
  /** Unix milliseconds. */
  readonly now: number;
}

export function rebuildKeyRecord(traces: KeyTraces): KeyRecord | undefined {
  const { key, shown, published, now } = traces;
  const [longest] = [...published].sort(bySurvival);
  const current = isCurrent(traces) ? shown?.sha256 : longest?.sha256;
  if (current === undefined) return undefined;
  const mark = shown?.sha256 === current ? shown.mark() : undefined;
  const rotationId = mark === undefined ? assumedRotation(traces, current) : mark.id;
  const former = [...published].sort(bySurvival).find(({ sha256 }) => sha256 !== current);
  return {
    current,
    rotatedAt: statusOf(key, current)?.rotatedAt ?? rfc3339(now),
    ...(rotationId !== undefined && { rotationId }),
    ...(former?.expiresAt !== undefined && { former: { sha256: former.sha256, retiresAt: former.expiresAt } }),
  };
}

/**
 * The shown key is the one in force when it is published, or when nothing is and it is known to be no edit. One that somebody wrote over a
 * published key is not, nor is one from an older backup; one of an interrupted rotation gets its turn as such.
 */
function isCurrent({ shown, published }: KeyTraces): boolean {
  if (shown === undefined) return false;
  if (published.length > 0) return published.some(({ sha256 }) => sha256 === shown.sha256);
  return shown.isVouchedFor || shown.mark() !== undefined;
}

/** The status, if it is that of this key. */
function statusOf({ status }: ApiKey, sha256: string): ApiKey["status"] {
  return status?.keyID === keyIdOf(sha256) ? status : undefined;
}

/** What the record says of this key, else what the status remembers; without either, no rotation is outstanding. */
function assumedRotation({ key, recorded }: KeyTraces, current: string): string | undefined {
  if (recorded?.current === current) return recorded.rotationId;
  return key.status?.keyID === undefined ? key.spec.rotation?.id : key.status.rotationID;
}

/** The key that lives longest first. */
function bySurvival(a: KeyConfig, b: KeyConfig): number {
  return (b.expiresAt ?? Number.POSITIVE_INFINITY) - (a.expiresAt ?? Number.POSITIVE_INFINITY) || 0;
}
