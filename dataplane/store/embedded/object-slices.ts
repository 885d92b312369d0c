// Reads objects in order of creation, some at a time: a slice ends at a number of objects or characters, so that no single
// call holds the event loop for long.

import type { DatabaseSync } from "node:sqlite";
import type { Collection } from "./collections.ts";
import type { Indexed } from "./entries.ts";

export interface SliceBounds {
  readonly objects: number;
  readonly characters: number;
}

export interface Slice {
  readonly objects: readonly Indexed[];
  /** The last object's id when there may be more after it. */
  readonly next: string | undefined;
}

export type SliceAfter = (collection: Collection, owner: number, id: string, bounds: SliceBounds) => Slice;

/** The objects of `owner` after `id` (`""` = from the start), one at least while there are any. */
export function createSlices(database: DatabaseSync): SliceAfter {
  const after = database.prepare(
    `SELECT e.object, e.id, o.owner, o.text FROM entries AS e CROSS JOIN objects AS o ON o.object = e.object
      WHERE e.ordering = ? AND e.owner = ? AND e.value = '' AND e.id > ? ORDER BY e.id LIMIT ?`,
  );
  return ({ creation }, owner, id, bounds) => {
    const objects: Indexed[] = [];
    let characters = 0;
    for (const row of after.iterate(creation, owner, id, bounds.objects)) {
      const object = row as unknown as Indexed;
      objects.push(object);
      characters += object.text.length;
      if (characters >= bounds.characters) break;
    }
    const isFull = objects.length === bounds.objects || characters >= bounds.characters;
    return { objects, next: isFull ? objects.at(-1)?.id : undefined };
  };
}
