// The deletion of one object while it is not passed on, and whether the object went with the CustomResourceDefinition of its kind.

import type { KubeObject } from "../kube/api.ts";
import { isDeleting } from "../model/project-objects.ts";
import type { DefinitionAnswer, DefinitionFound } from "./definitions.ts";
import { versionOf } from "./object-cache.ts";

/** What the watch delivered. */
export type ObjectChange =
  | {
      readonly what: "upserted";
      readonly object: KubeObject;
      readonly before: KubeObject | undefined;
      readonly listed: boolean;
    }
  | { readonly what: "removed"; readonly object: KubeObject; readonly listed: boolean };

/** It is decided by the reading of the definition that was asked for with this number, or by a later one. */
export interface Numbered {
  readonly asked: number;
}

/** A deletion that was not passed on. */
export interface Deletion extends Numbered {
  /** The object as it was last passed on. */
  readonly reported: KubeObject;
  /** The object that is being deleted, where it still exists. */
  readonly actual: KubeObject | undefined;
  /** Its definition has gone; false = it waits until the definition was read. */
  readonly isHeld: boolean;
  /** While it is held: UID of the definition that it went with; where none was ever seen, that of the object that was held first. */
  readonly definition?: string;
  /** While it waits, what the watch delivers of objects that were recreated under its name. */
  readonly later: readonly (ObjectChange & Numbered)[];
}

/**
 * A definition is always deleted before its objects. One that is there may be another one than the object's: then the object is older
 * than it.
 */
export function wentWithDefinition({ reported, later }: Deletion, { state, first, asked }: DefinitionAnswer): boolean {
  if (state.what === "unknown") return false;
  if (state.what === "gone") return true;
  // While a definition goes none of its objects can be made: one that was there before has taken the place of one deleted by itself.
  const isReplaced = later.some((change) => change.asked <= asked);
  if (state.what === "terminating" && !isReplaced) return true;
  const isAnother = first !== undefined && first !== state.uid;
  return isAnother && isOlder(reported, state);
}

/**
 * Timestamps count whole seconds, in which a definition is deleted, recreated and its objects too. Within one second the object is the younger
 * one if it was changed after the definition was; else it may be either, and its data are kept.
 */
function isOlder(object: KubeObject, { createdAt, resourceVersion }: DefinitionFound): boolean {
  const objectCreatedAt = Date.parse(object.metadata.creationTimestamp ?? "") || 0;
  if (objectCreatedAt !== createdAt) return objectCreatedAt < createdAt;
  return !(versionOf(object) > Number(resourceVersion));
}

/** True for a change of the deleted object itself, false for one of an object that was recreated under its name. */
export function isChangeOf({ reported, later }: Deletion, object: KubeObject): boolean {
  return later.length === 0 && isSameObject(reported, object);
}

/**
 * With what the watch delivers of objects that were recreated under its name. Of changes of one object the last is enough, up to its own deletion;
 * of several objects the first, which says whether this deletion was of one object alone, and the last, which is what there is now.
 */
export function withLater(deletion: Deletion, change: ObjectChange & Numbered): Deletion {
  const [first] = deletion.later;
  const isFirstOrNow = ({ object }: ObjectChange): boolean =>
    first === undefined || isSameObject(object, first.object) || isSameObject(object, change.object);
  const later = deletion.later.filter(isFirstOrNow);
  const last = later.at(-1);
  const isSameStep =
    change.what === "upserted" &&
    last?.what === "upserted" &&
    isSameObject(last.object, change.object) &&
    isDeleting(last.object) === isDeleting(change.object);
  return {
    ...deletion,
    later: isSameStep ? [...later.slice(0, -1), { ...last, object: change.object }] : [...later, change],
  };
}

function isSameObject(one: KubeObject, other: KubeObject): boolean {
  return one.metadata.uid === other.metadata.uid;
}

/** The reported object as if it were not being deleted; its writable metadata are those of `actual`, if there is one. */
export function withoutDeletion(reported: KubeObject, actual: KubeObject | undefined): KubeObject {
  const { deletionTimestamp: _, finalizers: __, ...metadata } = (actual ?? reported).metadata;
  const finalizers = actual?.metadata.finalizers;
  return { ...reported, metadata: { ...metadata, ...(finalizers !== undefined && { finalizers }) } };
}
