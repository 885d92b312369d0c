// Splits bytes that arrive in pieces into lines. Keeps no more than one line that is unfinished.

const newline = 0x0a;

export class LineSplitter {
  #open: Buffer[] = [];

  /** The lines that are complete now, each with its "\n". */
  push(bytes: Uint8Array): readonly Buffer[] {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const line = chunk.subarray(start, end + 1);
      lines.push(this.#open.length === 0 ? line : Buffer.concat([...this.#open.splice(0), line]));
      start = end + 1;
    }
    if (start < chunk.length) this.#open.push(chunk.subarray(start));
    return lines;
  }

  /** Bytes of the line that is unfinished. */
  get unfinished(): number {
    return this.#open.reduce((sum, { length }) => sum + length, 0);
  }
}
