// Reads a backup from its place, twice: first to its end, so that nothing of a damaged one is used,
// then for its items. Refuses with BackupUnusable.

import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { ExportFault, ExportReader, readExport } from "../../core/transfer/export-reader.ts";
import type { ExportHead, ExportItem } from "../../core/transfer/lines.ts";
import { maxDepth } from "../../dataplane/store/ports/documents.ts";
import type { BackupName } from "../backup/file-names.ts";
import { type Place, PlaceFailed } from "../backup/places/place.ts";

type Bytes = AsyncIterable<Uint8Array>;

/** A file is damaged, or can't be decrypted; nothing was written. */
export class BackupUnusable extends Error {
  override readonly name = "BackupUnusable";
}

export interface ReadBackup {
  readonly head: ExportHead;
  /** Those that arrive together; without those that a later one takes the place of. */
  items(take: (items: readonly ExportItem[]) => Promise<void>): Promise<void>;
}

/** Larger than any object or value may be. */
const limits = { maxLineBytes: 64 * 1024 * 1024, maxDepth };

/** `decrypt` = undefined without a key. */
export async function readBackup(
  place: Place,
  { name, isEncrypted }: BackupName,
  decrypt: ((content: Bytes) => Bytes) | undefined,
): Promise<ReadBackup> {
  if (isEncrypted && decrypt === undefined)
    throw new BackupUnusable(`${name} is encrypted: name the file with its secret key in --identity-file`);
  const readTo = async (take: (items: readonly ExportItem[]) => Promise<void>): Promise<ExportHead> => {
    const reader = new ExportReader(limits);
    try {
      const content = place.read(name);
      const decrypted = isEncrypted && decrypt !== undefined ? decrypt(content) : content;
      await pipeline(decrypted, createGunzip(), async (lines: Bytes) => {
        for await (const items of readExport(reader, lines)) await take(items.map(({ item }) => item));
      });
      return reader.finish().head;
    } catch (cause) {
      if (!isOfTheFile(cause)) throw cause;
      throw new BackupUnusable(`${name} can't be used: ${cause.message}`, { cause });
    }
  };

  /** By what they are of, the last change of each. */
  const changes = new Map<string, ExportItem>();
  let isInChanges = false;
  const head = await readTo(async (items) => {
    for (const item of items) {
      if (item.kind === "changes") isInChanges = true;
      else if (isInChanges) changes.set(keyOf(item), item);
    }
  });
  return {
    head,
    async items(take) {
      let isOver = false;
      await readTo(async (items) => {
        const end = items.findIndex(({ kind }) => kind === "changes");
        const before = isOver ? [] : items.slice(0, end < 0 ? items.length : end);
        isOver ||= end >= 0;
        const last = before.filter((item) => !changes.has(keyOf(item)));
        if (last.length > 0) await take(last);
      });
      if (changes.size > 0) await take([...changes.values()]);
    },
  };
}

function keyOf(item: ExportItem): string {
  switch (item.kind) {
    case "object":
      return `${item.resource}/${item.text.slice(7, 43)}`;
    case "deleted":
      return `${item.resource}/${item.id}`;
    case "value":
      return item.rootKey;
    case "changes":
      return "";
  }
}

/** Errors of zlib and age have no class; those of the system have a code, and ours a name. */
function isOfTheFile(error: unknown): error is Error {
  if (!(error instanceof Error) || error instanceof PlaceFailed) return false;
  const { code = "" } = error as NodeJS.ErrnoException;
  return error instanceof ExportFault || code.startsWith("Z_") || (error.name === "Error" && code === "");
}
