// The deletion of one object while it is not passed on, and whether the object went with the CustomResourceDefinition of its kind.

import type { KubeObject } from "../kube/api.ts";
import type { DefinitionAnswer } from "./definition-looks.ts";

/** What the watch delivered. */
export type News =
  | {
      readonly what: "upserted";
      readonly object: KubeObject;
      readonly before: KubeObject | undefined;
      readonly listed: boolean;
    }
  | { readonly what: "removed"; readonly object: KubeObject; readonly listed: boolean };

/** The look that decides on it is the one that was wanted with this number, or a later one. */
export interface Numbered {
  readonly asked: number;
}

/** A deletion that was not passed on. */
export interface Deletion extends Numbered {
  /** What was passed on last. */
  readonly shown: KubeObject;
  /** The object on its way out, where it still exists. */
  readonly live: KubeObject | undefined;
  /** Its definition has gone; false = it waits for a look. */
  readonly isHeld: boolean;
  /** While it waits, what the watch delivers of objects that were made anew under its name. */
  readonly later: readonly (News & Numbered)[];
}

/**
 * The definition was deleted always before its objects. One that stands may be another one than the object's: then the object is older
 * than it.
 */
export function wentWithDefinition({ shown, later }: Deletion, { state, first, asked }: DefinitionAnswer): boolean {
  if (state.what === "unknown") return false;
  if (state.what === "gone") return true;
  // While a definition goes none of its objects can be made: one that was there before has taken the place of one deleted by itself.
  const isReplaced = later.some((news) => news.asked <= asked);
  if (state.what === "terminating" && !isReplaced) return true;
  const isAnother = first !== undefined && first !== state.uid;
  return isAnother && (Date.parse(shown.metadata.creationTimestamp ?? "") || 0) < state.createdAt;
}

/** News of the object whose deletion it is, and not of one that was made anew since. */
export function isNewsOf({ shown, later }: Deletion, object: KubeObject): boolean {
  return later.length === 0 && isSameObject(shown, object);
}

/** With what the watch delivers of one that was made anew under its name. Of changes of one object the last is enough, up to its own deletion. */
export function withLater(deletion: Deletion, news: News & Numbered): Deletion {
  const { later } = deletion;
  const last = later.at(-1);
  const isChange =
    news.what === "upserted" &&
    last?.what === "upserted" &&
    isSameObject(last.object, news.object) &&
    isLeaving(last.object) === isLeaving(news.object);
  return {
    ...deletion,
    later: isChange ? [...later.slice(0, -1), { ...last, object: news.object }] : [...later, news],
  };
}

function isSameObject(one: KubeObject, other: KubeObject): boolean {
  return one.metadata.uid === other.metadata.uid;
}

export function isLeaving({ metadata }: KubeObject): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** What was shown, not on its way out; what can be written to is that of `live`, and nothing where there is none. */
export function asItWas(shown: KubeObject, live: KubeObject | undefined): KubeObject {
  const { deletionTimestamp: _, finalizers: __, ...metadata } = (live ?? shown).metadata;
  const finalizers = live?.metadata.finalizers;
  return { ...shown, metadata: { ...metadata, ...(finalizers !== undefined && { finalizers }) } };
}
