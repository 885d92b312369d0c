// Reads the file of an export as it arrives, one line at a time, and refuses with ExportFault what
// was cut off, edited, doubled or moved, with the number of the line where that shows. A changed
// text that is still JSON shows in the last line, by its checksum: who has the entire file reads it
// to its end before anything of it is used.

import { createHash } from "node:crypto";
import { idIn } from "../object-id.ts";
import { LineSplitter } from "./line-splitter.ts";
import type { ExportEnd, ExportHead, ExportItem, NumberedItem } from "./lines.ts";
import { type ExportLine, faultOfEnd, readLine } from "./read-line.ts";

/** Its message is for the person who has the file. */
export class ExportFault extends Error {
  override readonly name = "ExportFault";
  /** From 1. */
  readonly line: number;
  /** The message without the number of the line. */
  readonly reason: string;
  /** Whether what there is may be right, and the rest is missing. */
  readonly isCut: boolean;
  /** Of the error with which the service broke the export off; undefined = it did not. */
  readonly code: string | undefined;

  constructor(line: number, reason: string, { isCut = false, code }: { isCut?: boolean; code?: string } = {}) {
    super(`line ${line}: ${reason}`);
    this.line = line;
    this.reason = reason;
    this.isCut = isCut;
    this.code = code;
  }
}

export interface ReaderLimits {
  /** Bytes of a line, with its "\n". */
  readonly maxLineBytes: number;
  /** Levels of nesting of an object or value. */
  readonly maxDepth: number;
}

export class ExportReader {
  readonly #limits: ReaderLimits;
  readonly #splitter = new LineSplitter();
  readonly #hash = createHash("sha256");
  /** Lines that were read. */
  #lines = 0;
  #head: ExportHead | undefined;
  #end: ExportEnd | undefined;
  /** Where the last object before the changes stands: its resource in the head, and its id. */
  #place = { resource: 0, id: "" };
  #inChanges = false;
  #failure: ExportFault | undefined;

  constructor(limits: ReaderLimits) {
    this.#limits = limits;
  }

  /** Undefined before its line was read. */
  get head(): ExportHead | undefined {
    return this.#head;
  }

  /** The items of the lines that are complete now. Throws ExportFault, after those before it. */
  push(bytes: Uint8Array): readonly NumberedItem[] {
    if (this.#failure !== undefined) throw this.#failure;
    const items: NumberedItem[] = [];
    try {
      for (const bytesOfLine of this.#splitter.push(bytes)) {
        const item = this.#read(bytesOfLine);
        if (item !== undefined) items.push({ line: this.#lines, item });
      }
      if (this.#splitter.unfinished > 0) this.#requireShort(this.#lines + 1, this.#splitter.unfinished);
    } catch (error) {
      if (items.length === 0 || !(error instanceof ExportFault)) throw error;
      // The next call throws it.
      this.#failure = error;
    }
    return items;
  }

  /** Called once there are no more bytes. Throws ExportFault where the file is not complete. */
  finish(): { readonly head: ExportHead; readonly end: ExportEnd } {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#splitter.unfinished > 0) throw this.#cut("The file is cut off in this line");
    if (this.#head === undefined) throw this.#cut("The file is empty");
    if (this.#end === undefined)
      throw this.#cut('The file is cut off here: its last line, `{"end":true,…}`, is missing');
    return { head: this.#head, end: this.#end };
  }

  #read(bytes: Buffer): ExportItem | undefined {
    this.#lines += 1;
    this.#requireShort(this.#lines, bytes.length);
    if (this.#end !== undefined) throw this.#fault("The file goes on behind its last line");
    const read = readLine(bytes, this.#limits.maxDepth);
    if (read.kind === "end") {
      this.#end = this.#requireEnd(read.end);
      return undefined;
    }
    this.#hash.update(bytes);
    if (this.#head === undefined) {
      this.#head = this.#requireHead(read);
      return undefined;
    }
    if (read.kind === "fault") throw new ExportFault(this.#lines, read.reason, read);
    if (read.kind === "head") throw this.#fault("The first line is there twice");
    this.#requireInPlace(read, this.#head);
    return read;
  }

  #requireHead(read: ExportLine): ExportHead {
    if (read.kind === "head") return read.head;
    const isHead = read.kind === "fault" && read.isOfHead === true;
    throw this.#fault(isHead ? read.reason : 'This is no file of an export: `"jsonplane":"export"` is missing');
  }

  #requireEnd(end: ExportEnd): ExportEnd {
    if (this.#head === undefined) throw this.#fault("The file begins with its last line");
    const fault = faultOfEnd(end, { lines: this.#lines - 2, sha256: this.#hash.digest("hex") });
    if (fault !== undefined) throw this.#fault(fault);
    return end;
  }

  /** Before the changes each object comes once, in the order of resources, and then of ids. */
  #requireInPlace(item: ExportItem, head: ExportHead): void {
    if (item.kind === "changes") {
      if (this.#inChanges) throw this.#fault("The line is there twice");
      this.#inChanges = true;
      return;
    }
    if (item.kind === "value") {
      if (!head.rootKeys.includes(item.rootKey)) throw this.#fault(`The root key ${item.rootKey} is not in the head`);
      return;
    }
    const resource = head.resources.indexOf(item.resource);
    if (resource < 0) throw this.#fault(`The resource ${item.resource} is not in the head`);
    if (this.#inChanges) return;
    if (item.kind === "deleted") throw this.#fault('Nothing is deleted before the line {"changes":true}');
    const id = idIn(item.text);
    const before = this.#place;
    if (resource < before.resource || (resource === before.resource && id <= before.id)) {
      throw this.#fault("The object is there twice, or not in its place: lines were doubled or moved");
    }
    this.#place = { resource, id };
  }

  #requireShort(line: number, bytes: number): void {
    const { maxLineBytes } = this.#limits;
    if (bytes > maxLineBytes) throw new ExportFault(line, `The line is longer than ${maxLineBytes} bytes`);
  }

  #cut(reason: string): ExportFault {
    return new ExportFault(this.#lines + 1, reason, { isCut: true });
  }

  #fault(reason: string): ExportFault {
    return new ExportFault(this.#lines, reason);
  }
}
