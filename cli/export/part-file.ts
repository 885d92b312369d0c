// The file that an export is written to, beside its name until it is complete. What is left of one
// that was broken off can be read again, to go on with it.

import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { ExportFault, ExportReader } from "../../core/transfer/export-reader.ts";
import { ServiceRefused } from "../service/service.ts";
import { readerLimits } from "./download.ts";
import type { GrowingExport } from "./growing-export.ts";

export interface PartFile {
  write(bytes: Buffer): Promise<void>;
  /** On the disk, and under its name. */
  complete(): Promise<void>;
  /** Keeps what there is, to go on with. */
  close(): Promise<void>;
  /** Removes what there is. */
  discard(): Promise<void>;
}

/** In the place of a file: what was written stays. */
export const standardOutput: PartFile = {
  write: (bytes) =>
    new Promise((resolve, reject) => {
      process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()));
    }),
  complete: async () => undefined,
  close: async () => undefined,
  discard: async () => undefined,
};

/** Data of others: nobody else reads it. */
const mode = 0o600;

/** A new one. */
export async function openPart(out: string): Promise<PartFile> {
  return partOf(out, await opened(out, "w"), 0);
}

/** One that is there, and becomes part of `file` first. */
export async function continuePart(out: string, file: GrowingExport): Promise<PartFile> {
  const handle = await opened(out, "r+");
  try {
    await readPart(pathOf(out), handle, file);
  } catch (error) {
    await handle.close();
    throw error;
  }
  return partOf(out, handle, file.bytes);
}

function pathOf(out: string): string {
  return `${out}.part`;
}

async function opened(out: string, flags: "w" | "r+"): Promise<FileHandle> {
  return await open(pathOf(out), flags, mode).catch((error: NodeJS.ErrnoException) => {
    const why = flags === "r+" && error.code === "ENOENT" ? "there is no such file to go on with" : error.message;
    throw new ServiceRefused(`${pathOf(out)} can't be written: ${why}`, { cause: error });
  });
}

function partOf(out: string, handle: FileHandle, begin: number): PartFile {
  let at = begin;
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
      await rename(pathOf(out), out);
    },
    close: () => handle.close(),
    async discard() {
      await handle.close();
      await rm(pathOf(out), { force: true });
    },
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
