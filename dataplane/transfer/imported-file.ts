// The lines of one import as a file: reads each, and where the head of a file is there, finds out
// at its end whether it is whole. Throws `invalid_line` for a head that can't be read; other lines
// are refused one by one.

import { createHash, type Hash } from "node:crypto";
import { Problem } from "../../core/errors/problem.ts";
import type { CanonicalResult } from "../../core/json/canonical.ts";
import type { ExportEnd, NumberedItem, StoredItem } from "../../core/transfer/lines.ts";
import { type ExportLine, faultOfEnd, lineOf } from "../../core/transfer/read-line.ts";
import type { WriteMode } from "./write-object.ts";

/** What a line of the body wants written. */
export type ImportedItem = NumberedItem<StoredItem>;

interface FileDeps {
  readonly maxLineBytes: number;
  readonly mode: WriteMode;
  readonly refuse: (line: number, problem: Problem) => void;
}

export class ImportedFile {
  readonly #deps: FileDeps;
  #line = 0;
  /** Of an entire file, from its head on. */
  #hash: Hash | undefined;
  #hasEnded = false;

  constructor(deps: FileDeps) {
    this.#deps = deps;
  }

  /** Undefined for a line that wants nothing written, and for one that is refused. */
  read(bytes: Uint8Array, json: CanonicalResult): ImportedItem | undefined {
    this.#line += 1;
    if (isBlank(bytes)) return undefined;
    const { maxLineBytes } = this.#deps;
    if (bytes.length > maxLineBytes) return this.#refuse(tooLong(maxLineBytes));
    if (this.#hasEnded) return this.#refuse(invalidLine("The file goes on behind its last line"));
    const read = lineOf(json, bytes);
    if (read.kind === "end") return this.#end(read.end);
    if (this.#line === 1) this.#begin(read);
    this.#hash?.update(bytes);
    return this.#itemOf(read);
  }

  /** Once all lines were read. */
  finish(): void {
    if (this.#hash === undefined || this.#hasEnded) return;
    this.#line += 1;
    this.#refuse(invalidLine('The file is cut off here: its last line, `{"end":true,…}`, is missing'));
  }

  #begin(read: ExportLine): void {
    if (read.kind === "head") this.#hash = createHash("sha256");
    if (read.kind === "fault" && read.isOfHead) throw invalidLine(`Line 1: ${read.reason}`);
  }

  #itemOf(read: Exclude<ExportLine, { readonly kind: "end" }>): ImportedItem | undefined {
    switch (read.kind) {
      case "head":
        return this.#line === 1 ? undefined : this.#refuse(invalidLine("The first line of a file stands here"));
      case "fault":
        return this.#refuse(invalidLine(read.reason));
      case "changes":
        return this.#deps.mode === "replace" ? undefined : this.#refuse(needsReplace());
      default:
        return { line: this.#line, item: read };
    }
  }

  #end(end: ExportEnd): undefined {
    this.#hasEnded = true;
    if (this.#hash === undefined) return;
    const fault = faultOfEnd(end, { lines: this.#line - 2, sha256: this.#hash.digest("hex") });
    if (fault !== undefined) this.#refuse(invalidLine(fault));
  }

  #refuse(problem: Problem): undefined {
    this.#deps.refuse(this.#line, problem);
  }
}

export function invalidLine(detail: string): Problem {
  return new Problem("invalid_line", detail);
}

/** For what stands behind `{"changes":true}` in a file. */
export function needsReplace(): Problem {
  return invalidLine(
    "Lines from here on take the place of earlier ones: send `_mode=replace`, or use `jsonplane import`, which joins them",
  );
}

function tooLong(maxBytes: number): Problem {
  const detail = `The line has more than ${maxBytes} bytes: its object or value is larger than the Project allows`;
  return new Problem("document_too_large", detail);
}

/** No more than its end, which may be that of Windows. */
function isBlank(bytes: Uint8Array): boolean {
  return bytes.length <= 2 && bytes.every((byte) => byte === 0x0a || byte === 0x0d);
}
