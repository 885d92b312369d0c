// Single objects in collections. port.ts says what a call may throw.

import type { UniqueRule } from "../../../core/config/types.ts";
import type { Idempotent, Repeated } from "./idempotency.ts";
import type { CollectionRef, Owner, Visibility } from "./refs.ts";

export interface StoredObject {
  /** The served form, canonical JSON text: `id` first, the data, `_metadata` last. */
  readonly text: string;
}

/** The owner of an object by its stored text, which ends in `_metadata`. */
export function ownerIn(text: string): Owner | undefined {
  const begin = '"_metadata":';
  const at = text.lastIndexOf(begin);
  if (at < 0) return undefined;
  const { creator, creator_type } = JSON.parse(text.slice(at + begin.length, -1)) as Readonly<Record<string, unknown>>;
  return `${creator_type}:${creator}`;
}

export interface NewObject {
  /** UUIDv7; sorts by creation. */
  readonly id: string;
  readonly owner: Owner;
  readonly text: string;
}

/** Another object has these values of a rule whose index is declared: nothing was written. */
export interface NotUnique {
  readonly outcome: "not_unique";
  readonly rule: UniqueRule;
}

export type CreateOutcome =
  | { readonly outcome: "created"; readonly text: string }
  | { readonly outcome: "quota_exceeded" }
  | NotUnique
  /** An object with this id is stored. This comes after the two before: that object may be why. */
  | { readonly outcome: "exists" }
  /** It has expired already. */
  | { readonly outcome: "expired" }
  | Repeated;

export type ReplaceOutcome =
  | { readonly outcome: "replaced"; readonly text: string }
  /** The stored text is no longer `previous`. */
  | { readonly outcome: "conflict" }
  | { readonly outcome: "not_found" }
  /** Of values that the write changes. */
  | NotUnique
  /** The new text has expired already. */
  | { readonly outcome: "expired" };

/** `conflict`: the stored text is no longer `previous`. */
export type RemoveOutcome = "removed" | "conflict" | "not_found";

export interface ObjectReads {
  /** Undefined when there is none, or `visible.owner` doesn't own it. */
  read(collection: CollectionRef, id: string, visible: Visibility): Promise<StoredObject | undefined>;
}

export interface ObjectWrites {
  /** Unique rules see objects that their indexes have: while one is building, not all of them. */
  create(collection: CollectionRef, object: NewObject & Idempotent, maxObjects: number): Promise<CreateOutcome>;
  /** Writes `text` only while the stored text is `previous.text`. The owner never changes. */
  replace(collection: CollectionRef, object: NewObject, previous: StoredObject): Promise<ReplaceOutcome>;
  /** False when there is none, or `visible.owner` doesn't own it. */
  remove(collection: CollectionRef, id: string, visible: Visibility): Promise<boolean>;
  /** Removes an object while its stored text is `previous.text`. */
  removeUnchanged(collection: CollectionRef, id: string, previous: StoredObject): Promise<RemoveOutcome>;
}
