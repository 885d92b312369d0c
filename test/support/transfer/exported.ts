// What the file of an export leaves when its lines are applied in order.

import { ExportReader } from "../../../core/transfer/export-reader.ts";
import type { ExportEnd, ExportHead, ExportItem } from "../../../core/transfer/lines.ts";

export interface Exported {
  readonly head: ExportHead;
  readonly end: ExportEnd;
  readonly items: readonly ExportItem[];
}

/** Throws ExportFault. */
export function readExported(bytes: string | Uint8Array): Exported {
  const reader = new ExportReader({ maxLineBytes: 16 * 1024 * 1024, maxDepth: 64 });
  const items = reader.push(Buffer.from(bytes)).map(({ item }) => item);
  return { ...reader.finish(), items };
}

/** Texts by `<resource>/<id>` and by root key. */
export type Stored = Map<string, string>;

export function applied(exports: readonly Exported[]): Stored {
  const stored: Stored = new Map();
  for (const item of exports.flatMap(({ items }) => items)) {
    if (item.kind === "object") stored.set(`${item.resource}/${item.text.slice(7, 43)}`, item.text);
    else if (item.kind === "value") stored.set(item.rootKey, item.text);
    else if (item.kind === "deleted") stored.delete(`${item.resource}/${item.id}`);
  }
  return stored;
}
