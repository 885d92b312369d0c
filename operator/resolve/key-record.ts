// What is remembered of an ApiKey's keys: hashes only. Read from the record in its hash Secret.

import { isObject } from "../../core/json/json-value.ts";
import { parseOrUndefined } from "../../core/json/parse-or-undefined.ts";
import type { Secret } from "../../core/manifests/object.ts";
import { entryText } from "../../core/manifests/secret.ts";
import { isRfc3339 } from "../../core/rfc3339.ts";
import { isRotationId } from "./rotation-mark.ts";

export interface KeyRecord {
  /** SHA-256 of the key in force. */
  readonly current: string;
  /** `rotation.id` that it was made for. */
  readonly rotationId?: string;
  /** RFC 3339. */
  readonly rotatedAt: string;
  /** The key before, and the Unix second at which it stops working. */
  readonly former?: { readonly sha256: string; readonly retiresAt: number };
}

/** Undefined when there is no record, one of another version of this program, and one with what no version writes. */
export function readKeyRecord(secret: Secret | undefined): KeyRecord | undefined {
  const record = parseOrUndefined(entryText(secret, "record") ?? "");
  if (!isObject(record)) return undefined;
  const { current, rotationId, rotatedAt, former } = record;
  const isRecord =
    isSha256(current) &&
    isRotationId(rotationId) &&
    isRfc3339(rotatedAt) &&
    (former === undefined || (isObject(former) && isSha256(former.sha256) && isUnixTime(former.retiresAt)));
  return isRecord ? (record as unknown as KeyRecord) : undefined;
}

function isSha256(value: unknown): boolean {
  return typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
}

/** In the years that RFC 3339 can write. */
function isUnixTime(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value < Date.UTC(10_000) / 1000;
}
