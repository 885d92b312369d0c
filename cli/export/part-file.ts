// The file that an export is written to, beside its name until it is complete. What is left of one
// that was broken off can be read again, to go on with it.

import { type FileHandle, open, rename } from "node:fs/promises";
import { ExportFault, ExportReader } from "../../core/transfer/export-reader.ts";
import { ServiceRefused } from "../service/service.ts";
import { readerLimits } from "./download.ts";
import type { GrowingExport } from "./growing-export.ts";

export interface PartFile {
  write(bytes: Buffer): Promise<void>;
  /** Gives it its name. */
  complete(): Promise<void>;
  close(): Promise<void>;
}

/** Data of others: nobody else reads it. */
const mode = 0o600;

/** With `continued`, what is there becomes part of `file` first. */
export async function openPart(out: string, file: GrowingExport, continued: boolean): Promise<PartFile> {
  const path = `${out}.part`;
  const handle = await open(path, continued ? "r+" : "w", mode).catch((error: NodeJS.ErrnoException) => {
    const why = continued && error.code === "ENOENT" ? "there is no such file to go on with" : error.message;
    throw new ServiceRefused(`${path} can't be written: ${why}`, { cause: error });
  });
  try {
    if (continued) await readPart(path, handle, file);
  } catch (error) {
    await handle.close();
    throw error;
  }
  let at = file.bytes;
  return {
    async write(bytes) {
      for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, at);
        done += bytesWritten;
        at += bytesWritten;
      }
    },
    async complete() {
      await handle.sync();
      await handle.close();
      await rename(path, out);
    },
    close: () => handle.close(),
  };
}

/** Adds the lines that are complete, and cuts the rest off. */
async function readPart(path: string, handle: FileHandle, file: GrowingExport): Promise<void> {
  const reader = new ExportReader(readerLimits);
  try {
    for await (const piece of handle.createReadStream({ start: 0, autoClose: false })) {
      const items = reader.push(piece as Buffer).map(({ item }) => item);
      if (reader.head !== undefined) file.begin(reader.head);
      file.add(items);
    }
  } catch (error) {
    if (!(error instanceof ExportFault)) throw error;
    throw new ServiceRefused(`${path} can't be gone on with: ${error.message}`, { cause: error });
  }
  await handle.truncate(file.bytes);
}
