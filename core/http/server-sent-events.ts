// Turns the bytes of an event stream into events (WHATWG HTML §9.2.5 and §9.2.6), wherever its
// pieces are cut. Refuses nothing: what the format doesn't know is ignored, as by EventSource.

export interface ServerSentEvent {
  /** "message" where the stream names none. */
  readonly name: string;
  readonly data: string;
  /** Absent where this event brought none; "" forgets the position. */
  readonly id?: string;
}

const lineFeed = "\n";
const carriageReturn = "\r";

export class ServerSentEventParser {
  /** Of the newest event that had one, and "" before. */
  lastEventId = "";
  /** How long to wait before connecting again, if the stream has said so. */
  retryMs: number | undefined;
  // It drops a byte order mark at the beginning.
  readonly #decoder = new TextDecoder();
  /** The beginning of a line whose end is to come, in pieces: a line may be long. */
  #line: string[] = [];
  #endedWithReturn = false;
  #name = "";
  #data: string[] = [];
  #id: string | undefined;

  /** The events that end in these bytes. */
  push(bytes: Uint8Array): readonly ServerSentEvent[] {
    let text = this.#decoder.decode(bytes, { stream: true });
    if (text === "") return [];
    if (this.#endedWithReturn && text.startsWith(lineFeed)) text = text.slice(1);
    this.#endedWithReturn = text.endsWith(carriageReturn);
    const lines = text.split(/\r\n|\n|\r/);
    const rest = lines.pop() ?? "";
    const events = lines.map((line) => this.#readLine(line)).filter((event) => event !== undefined);
    if (rest !== "") this.#line.push(rest);
    return events;
  }

  #readLine(end: string): ServerSentEvent | undefined {
    const line = this.#line.join("") + end;
    this.#line = [];
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    this.#readField(field, colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, ""));
    return undefined;
  }

  /** A comment is a field without a name. */
  #readField(field: string, value: string): void {
    if (field === "event") this.#name = value;
    if (field === "data") this.#data.push(value);
    if (field === "id" && !value.includes("\0")) this.#id = value;
    if (field === "retry" && /^\d+$/.test(value)) this.retryMs = Number(value);
  }

  /** Without data it is no event, though its id counts. */
  #dispatch(): ServerSentEvent | undefined {
    const [name, data, id] = [this.#name || "message", this.#data, this.#id];
    this.#name = "";
    this.#data = [];
    this.#id = undefined;
    if (id !== undefined) this.lastEventId = id;
    if (data.length === 0) return undefined;
    return { name, data: data.join(lineFeed), ...(id !== undefined && { id }) };
  }
}
