// Reads a backup from its place, twice: first to its end, so that nothing of a damaged one is used,
// then for its items. Refuses with BackupUnusable.

import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { ExportFault, ExportReader } from "../../core/transfer/export-reader.ts";
import type { ExportHead, NumberedItem, StoredItem } from "../../core/transfer/lines.ts";
import { ReplacedLines } from "../../core/transfer/replaced-lines.ts";
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
  /** Those that arrive together; each object and value once, as it is at the end of the file. */
  items(take: (items: readonly StoredItem[]) => Promise<void>): Promise<void>;
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
  const readTo = async (take: (items: readonly NumberedItem[]) => Promise<void>): Promise<ExportHead> => {
    const reader = new ExportReader(limits);
    try {
      const content = place.read(name);
      const decrypted = isEncrypted && decrypt !== undefined ? decrypt(content) : content;
      await pipeline(decrypted, createGunzip(), async (lines: Bytes) => {
        for await (const piece of lines) await take(reader.push(piece));
      });
      return reader.finish().head;
    } catch (cause) {
      if (!isOfTheFile(cause)) throw cause;
      throw new BackupUnusable(`${name} can't be used: ${cause.message}`, { cause });
    }
  };

  const replaced = new ReplacedLines();
  const head = await readTo(async (items) => replaced.add(items));
  return {
    head,
    async items(take) {
      await readTo(async (items) => {
        const last = items.filter((item) => replaced.counts(item)).map(({ item }) => item);
        if (last.length > 0) await take(last);
      });
    },
  };
}

/** Errors of zlib and age have no class; those of the system have a code, and ours a name. */
function isOfTheFile(error: unknown): error is Error {
  if (!(error instanceof Error) || error instanceof PlaceFailed) return false;
  const { code = "" } = error as NodeJS.ErrnoException;
  return error instanceof ExportFault || code.startsWith("Z_") || (error.name === "Error" && code === "");
}
