// Keeps one JSON record in a Secret in a way that shows whether anybody but jsonplane wrote it: a record that was edited,
// or that belongs to a former object of the same name, counts as lost.

import { createHmac, timingSafeEqual } from "node:crypto";
import type { Json } from "../../core/config/types.ts";
import type { Secret } from "../../core/manifests/object.ts";
import type { CustomResource } from "../objects.ts";
import { entryText } from "./secret-write.ts";

export interface Sealing {
  /** Secret key of the project, 32 bytes. */
  readonly key: Uint8Array;
  readonly owner: CustomResource;
}

/** Entries of the Secret that holds `record`. */
export function sealRecord(record: Json, sealing: Sealing): Readonly<Record<string, string>> {
  const text = JSON.stringify(record);
  return { record: text, seal: sealOf(text, sealing) };
}

/** The record as it was written, or undefined when there is none that can be trusted. */
export function openRecord(secret: Secret | undefined, sealing: Sealing): Json | undefined {
  const text = entryText(secret, "record");
  const seal = entryText(secret, "seal");
  if (text === undefined || seal === undefined) return undefined;
  const expected = Buffer.from(sealOf(text, sealing));
  const actual = Buffer.from(seal);
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) return undefined;
  return JSON.parse(text) as Json;
}

/** The UID is part of it, so that an object made anew never inherits a credential. */
function sealOf(text: string, { key, owner }: Sealing): string {
  return createHmac("sha256", key).update(`${owner.kind}\0${owner.metadata.uid}\0${text}`).digest("base64url");
}
