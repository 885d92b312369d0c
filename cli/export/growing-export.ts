// One file of an export, made of the answers to one request or several: where one breaks off, the
// next one brings the rest. It gets the head of the first, the items of all, and an end of its own.

import { idIn } from "../../core/object-id.ts";
import { ExportWriter } from "../../core/transfer/export-writer.ts";
import type { ExportHead, ExportItem, ExportPlace } from "../../core/transfer/lines.ts";

export class GrowingExport {
  readonly #onItems: (items: readonly ExportItem[]) => void;
  readonly #writer = new ExportWriter();
  #head: ExportHead | undefined;
  #place: ExportPlace | undefined;
  #inChanges = false;
  #bytes = 0;

  /** `onItems` is called with what is added. */
  constructor(onItems: (items: readonly ExportItem[]) => void = () => undefined) {
    this.#onItems = onItems;
  }

  get head(): ExportHead | undefined {
    return this.#head;
  }

  /** The last object that was read before what has changed meanwhile. */
  get place(): ExportPlace | undefined {
    return this.#place;
  }

  get lines(): number {
    return this.#writer.lines;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The head of an answer: only the first one becomes part of the file. */
  begin(head: ExportHead): readonly Buffer[] {
    if (this.#head !== undefined) return [];
    this.#head = head;
    return [this.#counted(this.#writer.head(head))];
  }

  add(items: readonly ExportItem[]): Buffer {
    this.#onItems(items);
    return this.#counted(this.#writer.items(items.filter((item) => this.#isNew(item))));
  }

  end(position: string | undefined): Buffer {
    return this.#counted(this.#writer.end(position));
  }

  /**
   * The rest of an export that broke off among its changes begins with objects that were made
   * since: for the file they are changes as well.
   */
  #isNew(item: ExportItem): boolean {
    if (item.kind === "changes") {
      const isFirst = !this.#inChanges;
      this.#inChanges = true;
      return isFirst;
    }
    if (item.kind === "object" && !this.#inChanges) this.#place = { resource: item.resource, id: idIn(item.text) };
    return true;
  }

  #counted(bytes: Buffer): Buffer {
    this.#bytes += bytes.length;
    return bytes;
  }
}
