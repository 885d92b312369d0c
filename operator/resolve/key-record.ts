// What is remembered of an ApiKey's keys: hashes only. Read from the record in its hash Secret.

import { isObject } from "../../core/json/json-value.ts";
import { parseOrUndefined } from "../../core/json/parse-or-undefined.ts";
import type { Secret } from "../../core/manifests/object.ts";
import { entryText } from "../../core/manifests/secret.ts";

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

/** Undefined when there is no record, or one of another version of this program. */
export function readKeyRecord(secret: Secret | undefined): KeyRecord | undefined {
  const record = parseOrUndefined(entryText(secret, "record") ?? "");
  const isRecord = isObject(record) && typeof record.current === "string" && typeof record.rotatedAt === "string";
  return isRecord ? (record as unknown as KeyRecord) : undefined;
}
