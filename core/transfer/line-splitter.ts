// Splits bytes that arrive in pieces into lines. Keeps no more than one line that is unfinished.

const newline = 0x0a;

export class LineSplitter {
  readonly #maxBytes: number;
  #open: Buffer[] = [];
  #unfinished = 0;

  /** What follows in a line once it has more than `maxBytes` is left out. */
  constructor(maxBytes = Number.POSITIVE_INFINITY) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that are complete now, each with its "\n". */
  push(bytes: Uint8Array): readonly Buffer[] {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      this.#add(chunk.subarray(start, end + 1));
      lines.push(this.takeUnfinished());
      start = end + 1;
    }
    if (start < chunk.length) this.#add(chunk.subarray(start));
    return lines;
  }

  /** Bytes of the line that is unfinished. */
  get unfinished(): number {
    return this.#unfinished;
  }

  /** The line that is unfinished, which may be empty: the next one begins. */
  takeUnfinished(): Buffer {
    const [only, ...others] = this.#open;
    const line = only !== undefined && others.length === 0 ? only : Buffer.concat(this.#open);
    this.#open = [];
    this.#unfinished = 0;
    return line;
  }

  #add(bytes: Buffer): void {
    if (this.#unfinished > this.#maxBytes) return;
    this.#open.push(bytes);
    this.#unfinished += bytes.length;
  }
}
