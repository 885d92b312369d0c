// Writes the lines of an export as bytes, and adds them up for its end.

import { createHash } from "node:crypto";
import { type ExportHead, type ExportItem, endLine, headLine, itemLine, objectBegin, objectEnd } from "./lines.ts";

export class ExportWriter {
  readonly #hash = createHash("sha256");
  #lines = 0;

  head(head: ExportHead): Buffer {
    return this.#written([headLine(head)]);
  }

  item(item: ExportItem): Buffer {
    return this.items([item]);
  }

  items(items: readonly ExportItem[]): Buffer {
    this.#lines += items.length;
    return this.#written(items.map(itemLine));
  }

  /** Objects of one resource. */
  objects(resource: string, texts: readonly string[]): Buffer {
    this.#lines += texts.length;
    const begin = objectBegin(resource);
    return this.#written(texts.map((text) => begin + text + objectEnd));
  }

  /** Lines between the first and the last, so far. */
  get lines(): number {
    return this.#lines;
  }

  end(position?: string): Buffer {
    const end = { lines: this.#lines, sha256: this.#hash.digest("hex"), ...(position !== undefined && { position }) };
    return Buffer.from(endLine(end));
  }

  /** Each by itself: to join them first takes three times as long, for the string is large. */
  #written(lines: readonly string[]): Buffer {
    const bytes = Buffer.allocUnsafe(lines.reduce((sum, line) => sum + Buffer.byteLength(line), 0));
    let at = 0;
    for (const line of lines) at += bytes.write(line, at);
    this.#hash.update(bytes);
    return bytes;
  }
}
