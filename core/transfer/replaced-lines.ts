// What stands behind `{"changes":true}` in a file takes the place of lines before it. Who reads the
// file twice learns in the first reading which lines count, and has each object once in the second.

import { idIn } from "../object-id.ts";
import type { NumberedItem, StoredItem } from "./lines.ts";

export class ReplacedLines {
  /** The last line, by what it is about. */
  readonly #last = new Map<string, number>();
  #inChanges = false;

  /** In the order of the file. */
  add(items: readonly NumberedItem[]): void {
    for (const { line, item } of items) {
      if (item.kind === "changes") this.#inChanges = true;
      else if (this.#inChanges) this.#last.set(keyOf(item), line);
    }
  }

  /** Whether any line takes the place of another. */
  get areSome(): boolean {
    return this.#inChanges;
  }

  /** Whether the line says how something is at the end of the file. */
  counts(numbered: NumberedItem): numbered is NumberedItem<StoredItem> {
    const { line, item } = numbered;
    return item.kind !== "changes" && (this.#last.get(keyOf(item)) ?? line) === line;
  }
}

function keyOf(item: StoredItem): string {
  switch (item.kind) {
    case "object":
      return `${item.resource}/${idIn(item.text)}`;
    case "deleted":
      return `${item.resource}/${item.id}`;
    case "value":
      return `/${item.rootKey}`;
  }
}
