// A client of one stream, which keeps what it is sent.

import { type ServerSentEvent, ServerSentEventParser } from "../../core/http/server-sent-events.ts";
import { differ } from "./differs.ts";

export interface ReceivedEvent {
  readonly name: string;
  readonly id: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
}

export class Follower {
  readonly response: Response;
  readonly events: ReceivedEvent[] = [];
  readonly #aborting: AbortController;
  readonly #patienceMs: number;
  #isEnded = false;
  #news = Promise.withResolvers<void>();

  constructor(response: Response, aborting: AbortController, patienceMs: number) {
    this.response = response;
    this.#aborting = aborting;
    this.#patienceMs = patienceMs;
    if (response.status === 200) void this.#read();
  }

  /** Those that say something of this object. */
  of({ id }: { readonly id: string }): readonly ReceivedEvent[] {
    return this.events.filter(({ data }) => data["id"] === id);
  }

  /** The event that is found; `what` says what is waited for. */
  async until(what: string, find: () => ReceivedEvent | undefined): Promise<ReceivedEvent> {
    const { status } = this.response;
    if (status !== 200) return differ(`a stream is answered with ${status}`);
    const patience = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => patience.resolve(true), this.#patienceMs);
    try {
      for (;;) {
        const found = find();
        if (found !== undefined) return found;
        if (this.#isEnded) return differ(`the stream ended before ${what} came`);
        const isOver = await Promise.race([this.#news.promise.then(() => false), patience.promise]);
        if (isOver) return differ(`${what} did not come within ${this.#patienceMs / 1_000} seconds`);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  async put({ id, etag }: { readonly id: string; readonly etag: string }): Promise<ReceivedEvent> {
    const find = () => this.of({ id }).find(({ name, data }) => name === "put" && data["etag"] === etag);
    return await this.until(`the put of ${id} with ${etag}`, find);
  }

  async deleted({ id }: { readonly id: string }): Promise<ReceivedEvent> {
    return await this.until(`the delete of ${id}`, () => this.of({ id }).find(({ name }) => name === "delete"));
  }

  /** Waits until the server ends it. */
  async ended(): Promise<void> {
    const end: ReceivedEvent = { name: "end", id: undefined, data: {} };
    if (!this.#isEnded) await this.until("its end", () => (this.#isEnded ? end : undefined));
  }

  close(): void {
    this.#aborting.abort();
  }

  async #read(): Promise<void> {
    const parser = new ServerSentEventParser();
    try {
      for await (const bytes of this.response.body ?? []) {
        this.events.push(...parser.push(bytes).map(received));
        this.#tell();
      }
    } catch {
      // It broke off, which a rule that waits for more tells.
    }
    this.#isEnded = true;
    this.#tell();
  }

  #tell(): void {
    const told = this.#news;
    this.#news = Promise.withResolvers();
    told.resolve();
  }
}

function received({ name, id, data }: ServerSentEvent): ReceivedEvent {
  return { name, id, data: JSON.parse(data) as ReceivedEvent["data"] };
}
