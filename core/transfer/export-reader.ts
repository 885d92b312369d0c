// Reads the file of an export as it arrives, one line at a time, and refuses with ExportFault what
// was cut off, edited, doubled or moved, with the number of the line where that shows. A changed
// text that is still JSON shows in the last line, by its checksum: who has the entire file reads it
// to its end before anything of it is used.

import { createHash } from "node:crypto";
import { canonicalJsonOfBytes } from "../json/canonical.ts";
import { valuesOf } from "../json/members.ts";
import { LineSplitter } from "./line-splitter.ts";
import { type ExportEnd, type ExportHead, type ExportItem, exportVersion } from "./lines.ts";

/** Its message is for the person who has the file. */
export class ExportFault extends Error {
  override readonly name = "ExportFault";
  /** From 1. */
  readonly line: number;
  /** The message without the number of the line. */
  readonly reason: string;
  /** Of the error with which the service broke the export off; undefined = it did not. */
  readonly code: string | undefined;

  constructor(line: number, reason: string, code?: string) {
    super(`line ${line}: ${reason}`);
    this.line = line;
    this.reason = reason;
    this.code = code;
  }
}

export interface ReaderLimits {
  /** Bytes of a line, with its "\n". */
  readonly maxLineBytes: number;
  /** Levels of nesting of an object or value. */
  readonly maxDepth: number;
}

export interface NumberedItem {
  readonly line: number;
  readonly item: ExportItem;
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

  constructor(limits: ReaderLimits) {
    this.#limits = limits;
  }

  /** Undefined before its line was read. */
  get head(): ExportHead | undefined {
    return this.#head;
  }

  /** The items of the lines that are complete now. Throws ExportFault. */
  push(bytes: Uint8Array): readonly NumberedItem[] {
    const items: NumberedItem[] = [];
    for (const bytesOfLine of this.#splitter.push(bytes)) {
      const item = this.#read(bytesOfLine);
      if (item !== undefined) items.push({ line: this.#lines, item });
    }
    if (this.#splitter.unfinished > 0) this.#requireShort(this.#lines + 1, this.#splitter.unfinished);
    return items;
  }

  /** Called once there are no more bytes. Throws ExportFault where the file is not complete. */
  finish(): { readonly head: ExportHead; readonly end: ExportEnd } {
    const next = this.#lines + 1;
    if (this.#splitter.unfinished > 0) throw new ExportFault(next, "The file is cut off in this line");
    if (this.#head === undefined) throw new ExportFault(next, "The file is empty");
    if (this.#end === undefined)
      throw new ExportFault(next, 'The file is cut off here: its last line, `{"end":true,…}`, is missing');
    return { head: this.#head, end: this.#end };
  }

  #read(bytes: Buffer): ExportItem | undefined {
    this.#lines += 1;
    this.#requireShort(this.#lines, bytes.length);
    if (this.#end !== undefined) throw this.#fault("The file goes on behind its last line");
    const values = this.#membersOf(bytes);
    if (values.has("end")) {
      this.#end = this.#endIn(values);
      return undefined;
    }
    this.#hash.update(bytes);
    if (this.#head === undefined) {
      this.#head = this.#headIn(values);
      return undefined;
    }
    if (values.has("error")) throw this.#brokenOff(values);
    const item = this.#itemIn(values);
    this.#requireInPlace(item, this.#head);
    return item;
  }

  #membersOf(bytes: Buffer): ReadonlyMap<string, string> {
    // One level more for the line itself.
    const read = canonicalJsonOfBytes(bytes, this.#limits.maxDepth + 1);
    if (read.ok && read.json.kind === "object") return valuesOf(read.json.text);
    if (this.#lines === 1) throw this.#fault("This is no file of an export; its first line is no JSON object");
    if (read.ok) throw this.#fault("A line has to be a JSON object");
    throw this.#fault(
      `${read.error.reason} (byte ${Buffer.byteLength(bytes.toString().slice(0, read.error.at)) + 1} of the line)`,
    );
  }

  #headIn(values: ReadonlyMap<string, string>): ExportHead {
    if (values.get("jsonplane") !== '"export"')
      throw this.#fault('This is no file of an export: `"jsonplane":"export"` is missing');
    const version = values.get("version");
    if (version !== String(exportVersion)) {
      throw this.#fault(
        `The file has the version ${version ?? "?"} of the format; this program reads ${exportVersion}`,
      );
    }
    const {
      jsonplane: _kind,
      version: _version,
      ...head
    } = parsed(values) as Partial<ExportHead> & Record<string, unknown>;
    const { exportedAt, resources, rootKeys, owner, since, after, position } = head;
    const isWhole =
      typeof exportedAt === "string" &&
      isNames(resources) &&
      isNames(rootKeys) &&
      [owner, since, position].every(isTextIfThere);
    const isPlace = after === undefined || (typeof after?.resource === "string" && typeof after?.id === "string");
    if (!isWhole || !isPlace) throw this.#fault("The first line is not the head of an export");
    return head as ExportHead;
  }

  #endIn(values: ReadonlyMap<string, string>): ExportEnd {
    if (this.#head === undefined) throw this.#fault("The file begins with its last line");
    const { lines, sha256, position } = parsed(values) as Partial<ExportEnd>;
    const read = this.#lines - 2;
    if (values.get("end") !== "true" || !isTextIfThere(position))
      throw this.#fault("This is not the last line of an export");
    if (lines !== read) {
      throw this.#fault(`The file had ${String(lines)} lines between the first and the last, and has ${read}`);
    }
    if (sha256 !== this.#hash.digest("hex")) {
      throw this.#fault("The checksum differs: a line before this one was changed, or lines changed places");
    }
    return { lines: read, sha256, ...(position !== undefined && { position }) };
  }

  #brokenOff(values: ReadonlyMap<string, string>): ExportFault {
    const { error } = parsed(values) as {
      readonly error: { readonly code?: unknown; readonly detail?: unknown } | null;
    };
    const code = String(error?.code);
    return new ExportFault(this.#lines, `The export was broken off here with ${code}: ${String(error?.detail)}`, code);
  }

  #itemIn(values: ReadonlyMap<string, string>): ExportItem {
    const [first, second, ...more] = values;
    if (first !== undefined && more.length === 0) {
      const [name, text] = first;
      if (name === "changes" && second === undefined && text === "true") return { kind: "changes" };
      const item = second === undefined ? undefined : itemOf(name, text, second);
      if (item !== undefined) return item;
    }
    throw this.#fault("The line is no object, value or deletion of an export");
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
    const id = idOf(item.text);
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

  #fault(reason: string): ExportFault {
    return new ExportFault(this.#lines, reason);
  }
}

/** The items of a file, those of a piece together. Throws ExportFault, and what reading throws. */
export async function* readExport(
  reader: ExportReader,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly NumberedItem[]> {
  for await (const piece of pieces) {
    const items = reader.push(piece);
    if (items.length > 0) yield items;
  }
  reader.finish();
}

type Entry = readonly [name: string, text: string];

function itemOf(name: string, text: string, [second, value]: Entry): ExportItem | undefined {
  if (!text.startsWith('"')) return undefined;
  const of = JSON.parse(text) as string;
  if (name === "rootKey" && second === "value") return { kind: "value", rootKey: of, text: value };
  if (name !== "resource") return undefined;
  if (second === "object" && objectStart.test(value)) return { kind: "object", resource: of, text: value };
  if (second === "deleted" && uuid.test(value))
    return { kind: "deleted", resource: of, id: JSON.parse(value) as string };
  return undefined;
}

const uuid = /^"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"$/;
/** Stored objects begin with their id. */
const objectStart = /^\{"id":"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"[,}]/;

function idOf(text: string): string {
  return text.slice(7, 43);
}

function parsed(values: ReadonlyMap<string, string>): unknown {
  return Object.fromEntries(Array.from(values, ([name, text]) => [name, JSON.parse(text)]));
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === "string");
}

function isTextIfThere(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}
