// The file of an import: read to its end before anything of it is sent, and then once more. What
// comes by a pipe is kept in a temporary file, which nobody else can open. Throws ExportFault for a
// file that is not whole, and ServiceRefused where it can't be read.

import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ExportReader } from "../../core/transfer/export-reader.ts";
import { LineSplitter } from "../../core/transfer/line-splitter.ts";
import type { ExportHead } from "../../core/transfer/lines.ts";
import { readLine } from "../../core/transfer/read-line.ts";
import { ReplacedLines } from "../../core/transfer/replaced-lines.ts";
import { readerLimits } from "../export/download.ts";
import { ServiceRefused } from "../service/service.ts";

export interface FileLine {
  /** From 1. */
  readonly line: number;
  /** With its "\n". */
  readonly bytes: Uint8Array;
}

export interface ExportFile {
  readonly head: ExportHead;
  /** All lines, with head and end. */
  readonly lines: number;
  /** Of objects and values, each once, and, where they are wanted, of deletions. */
  toSend(wanted: { readonly deletions: boolean; readonly from: number }): AsyncGenerator<FileLine>;
  close(): Promise<void>;
}

export async function openExport(path: string): Promise<ExportFile> {
  const handle = await openFile(path);
  try {
    return await checked(handle);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    const handle = path === "-" ? undefined : await open(path);
    if (handle !== undefined && (await handle.stat()).isFile()) return handle;
    const pieces = handle === undefined ? process.stdin : handle.createReadStream();
    return await kept(pieces);
  } catch (cause) {
    throw new ServiceRefused(`${path} can't be read: ${(cause as Error).message}`, { cause });
  }
}

/** It has no name any more, so that it is gone with the program, however that ends. */
async function kept(pieces: AsyncIterable<Uint8Array>): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), "jsonplane-import-"));
  const handle = await open(join(folder, "export.ndjson"), "wx+", 0o600);
  await rm(folder, { recursive: true });
  try {
    for await (const piece of pieces) await handle.writeFile(piece);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function checked(handle: FileHandle): Promise<ExportFile> {
  const reader = new ExportReader(readerLimits);
  const replaced = new ReplacedLines();
  for await (const piece of piecesOf(handle)) replaced.add(reader.push(piece));
  const { head, end } = reader.finish();
  return {
    head,
    lines: end.lines + 2,
    async *toSend({ deletions, from }) {
      const splitter = new LineSplitter();
      let line = 0;
      for await (const piece of piecesOf(handle)) {
        for (const bytes of splitter.push(piece)) {
          line += 1;
          const isItem = line > 1 && line < end.lines + 2;
          if (isItem && line >= from && isWanted({ line, bytes }, replaced, deletions)) yield { line, bytes };
        }
      }
    },
    close: () => handle.close(),
  };
}

function piecesOf(handle: FileHandle): AsyncIterable<Uint8Array> {
  return handle.createReadStream({ start: 0, autoClose: false, highWaterMark: 256 * 1024 });
}

/** Whether the line is to be sent. It is read only where a later one may take its place. */
function isWanted({ line, bytes }: FileLine, replaced: ReplacedLines, deletions: boolean): boolean {
  if (!replaced.areSome) return true;
  const item = readLine(bytes, readerLimits.maxDepth);
  if (item.kind === "head" || item.kind === "end" || item.kind === "fault") return false;
  return replaced.counts({ line, item }) && (deletions || item.kind !== "deleted");
}
