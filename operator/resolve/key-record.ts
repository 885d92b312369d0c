// What is remembered of an ApiKey's keys: hashes only. Read from the sealed record of its hash Secret.

import type { Json, JsonObject } from "../../core/config/types.ts";
import { isObject } from "../../core/json/json-value.ts";
import type { Secret } from "../../core/manifests/object.ts";
import { openRecord, type Sealing } from "./sealed-record.ts";

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

/** Undefined when there is no record, or its seal is not from jsonplane. */
export function readKeyRecord(secret: Secret | undefined, sealing: Sealing): KeyRecord | undefined {
  const record = openRecord(secret, sealing);
  return isKeyRecord(record) ? (record as unknown as KeyRecord) : undefined;
}

/** A sealed record is ours, but perhaps of another version of this program. */
function isKeyRecord(record: Json | undefined): record is JsonObject {
  return isObject(record) && typeof record.current === "string" && typeof record.rotatedAt === "string";
}
