// Annotations of an object: read, written, and what people list in one.

import type { JsonObject } from "../../core/config/types.ts";
import type { ObjectMeta } from "../../core/manifests/object.ts";

/** An object that is there, or one that is about to be made. */
export interface Annotated {
  readonly metadata: Pick<ObjectMeta, "annotations">;
}

/** Empty where it has none, or where there is no object. */
export function annotationsOf(object: Annotated | undefined): Readonly<Record<string, string>> {
  return object?.metadata.annotations ?? {};
}

/** Words with spaces, commas or line breaks between them; none where there is no annotation. */
export function wordsIn(text: string | undefined): readonly string[] {
  return (text ?? "").split(/[\s,]+/).filter((word) => word !== "");
}

/** A copy for PUT or POST with these annotations beside its others; undefined takes one away. */
export function withAnnotations(object: Annotated, changes: Readonly<Record<string, string | undefined>>): JsonObject {
  const all = Object.entries({ ...annotationsOf(object), ...changes });
  const annotations = Object.fromEntries(all.filter(([, value]) => value !== undefined));
  return { ...object, metadata: { ...object.metadata, annotations } } as unknown as JsonObject;
}
