// Proves that this installation made a Secret for one object: an HMAC with a key that only the operator has, in an annotation. It is
// bound to the object's UID, so that what an earlier object of the name left behind is never taken for what this one has.

import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import type { Secret } from "../../core/manifests/object.ts";
import { entryText } from "../../core/manifests/secret.ts";
import type { CustomResource } from "../model/objects.ts";
import {
  namespaceAnnotation,
  ownerAnnotation,
  ownerMarks,
  sealAnnotation,
  sealedEntriesOf,
} from "../model/secret-names.ts";

export interface Sealing {
  /** Of the installation; as a KeyObject each seal costs half. */
  readonly key: KeyObject;
  readonly owner: CustomResource;
}

type EntryOf = (entry: string) => string | undefined;

/** The annotations that say and prove whose a Secret with these entries is. */
export function marksOf(secretName: string, entryOf: EntryOf, sealing: Sealing): Readonly<Record<string, string>> {
  const { owner } = sealing;
  return {
    [namespaceAnnotation]: owner.metadata.namespace,
    ...ownerMarks(owner),
    [sealAnnotation]: sealOfSecret(secretName, entryOf, sealing),
  };
}

export interface Seal {
  readonly isValid: boolean;
  /** False: some annotation isn't as `marksOf` says. */
  readonly isMarked: boolean;
}

export function readSeal(secret: Secret, sealing: Sealing): Seal {
  const { name, annotations = {} } = secret.metadata;
  const marks = marksOf(name, (entry) => entryText(secret, entry), sealing);
  return {
    isValid: sameText(annotations[sealAnnotation] ?? "", marks[sealAnnotation] ?? ""),
    isMarked: Object.entries(marks).every(([mark, value]) => annotations[mark] === value),
  };
}

/** True where this installation made it for an earlier object of the same kind and name. */
export function isOfFormerOwner(secret: Secret, { owner, ...sealing }: Sealing): boolean {
  const uid = secret.metadata.annotations?.[ownerAnnotation] ?? "";
  const former = { ...owner, metadata: { ...owner.metadata, uid } } as CustomResource;
  return readSeal(secret, { ...sealing, owner: former }).isValid;
}

/** HMAC over what the seal is for, whose it is, and `parts`. */
export function sealOf(use: "secret" | "rotation", parts: readonly string[], { key, owner }: Sealing): string {
  const { namespace, name, uid } = owner.metadata;
  const text = JSON.stringify([use, owner.kind, namespace, name, uid, ...parts]);
  return createHmac("sha256", key).update(text).digest("base64url");
}

export function sameText(actual: string, expected: string): boolean {
  const [a, b] = [Buffer.from(actual), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function sealOfSecret(secretName: string, entryOf: EntryOf, sealing: Sealing): string {
  const sealed = sealedEntriesOf(sealing.owner, secretName).map((entry) => entryOf(entry) ?? "");
  return sealOf("secret", [secretName, ...sealed], sealing);
}
