// Keeps one JSON record in a Secret in a way that shows whether anybody but jsonplane wrote it: a record that was edited
// counts as lost. It is sealed for a kind and a name, with the key of one Project, and not for a UID: a backup that is
// restored gives every object a new one, and must not lose a credential. So an object that is deleted and made again while
// the operator is away keeps its credentials, unless its Secrets are deleted too.

import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import type { Json } from "../../core/config/types.ts";
import { parseOrUndefined } from "../../core/json/parse-or-undefined.ts";
import type { Secret } from "../../core/manifests/object.ts";
import type { CustomResource } from "../model/objects.ts";
import { entryText } from "./secret-write.ts";

export interface Sealing {
  /** Secret key of the project, 32 bytes; as a KeyObject each seal costs half. */
  readonly key: Uint8Array | KeyObject;
  readonly owner: CustomResource;
}

/** Entries of the Secret that holds `record`. */
export function sealRecord(record: Json, sealing: Sealing): Readonly<Record<string, string>> {
  const text = JSON.stringify(record);
  return { record: text, seal: sealOf("record", [text], sealing) };
}

/** The record as it was written, or undefined when there is none that can be trusted. */
export function openRecord(secret: Secret | undefined, sealing: Sealing): Json | undefined {
  const text = entryText(secret, "record");
  const seal = entryText(secret, "seal");
  if (text === undefined || seal === undefined) return undefined;
  return sameText(seal, sealOf("record", [text], sealing)) ? (JSON.parse(text) as Json) : undefined;
}

/**
 * The rotation that a record speaks of, whatever key wrote it. Only good for finding out whether somebody asked for a new credential
 * since, never for using one.
 */
export function claimedRotation(secret: Secret | undefined): string | undefined {
  const text = entryText(secret, "record");
  if (text === undefined) return undefined;
  const id = (parseOrUndefined(text) as { readonly rotationId?: unknown } | null | undefined)?.rotationId;
  return typeof id === "string" ? id : undefined;
}

/** One use of the project's key says nothing about another. */
export type SealUse = "record" | "rotation" | "password";

/** HMAC over what the seal is for, whose it is, and `parts`. */
export function sealOf(use: SealUse, parts: readonly string[], { key, owner }: Sealing): string {
  const text = JSON.stringify([use, owner.kind, owner.metadata.name, ...parts]);
  return createHmac("sha256", key).update(text).digest("base64url");
}

export function sameText(actual: string, expected: string): boolean {
  const [a, b] = [Buffer.from(actual), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
