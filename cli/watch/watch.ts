// Follows changes until it is aborted, and reports each once. It begins with the objects that are
// stored, or with the next change. When the connection ends it goes on from its position, and after
// a reset from a new list. Throws ServiceRefused where the server refuses.

import { backoffMs } from "../../core/backoff.ts";
import type { ServerSentEvent } from "../../core/http/server-sent-events.ts";
import { valuesOf } from "../../core/json/members.ts";
import { ServerAway, ServiceRefused } from "../service/service.ts";
import type { ChangesClient } from "./changes-client.ts";

export interface WatchedChange {
  readonly kind: "put" | "delete";
  /** The object's id; of a root key its name and path, as in a URL. */
  readonly name: string;
  /** The event's data. */
  readonly data: string;
  /** The object or value as JSON; absent where it is gone. */
  readonly text?: string;
}

export interface WatchDeps {
  readonly client: ChangesClient;
  /** Resolves early when the watch is aborted. */
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly onChange: (change: WatchedChange) => Promise<void>;
  /** Says what happens, in a sentence without a full stop. */
  readonly note: (sentence: string) => void;
  readonly random?: () => number;
}

export interface WatchOptions {
  /** The resource, for objects that are listed. */
  readonly resource: string;
  readonly list: boolean;
  readonly position: string | undefined;
  readonly signal: AbortSignal;
}

const defaultRetryMs = 1_000;
const maxRetryMs = 30_000;

export async function watch(deps: WatchDeps, options: WatchOptions): Promise<void> {
  const { signal } = options;
  const watching = new Watching(deps, options);
  let failures = 0;
  while (!signal.aborted) {
    const away = await watching.follow().then(() => undefined, awayOrThrow);
    if (signal.aborted) return;
    if (away !== undefined && (watching.gotEvents || failures === 0)) deps.note(`${away.message}; trying again`);
    failures = watching.gotEvents ? 1 : failures + 1;
    const policy = { firstMs: watching.retryMs, maxMs: maxRetryMs, jitter: 0.5 };
    await deps.pause(Math.max(backoffMs(policy, failures, deps.random), away?.retryAfterMs ?? 0));
  }
}

function awayOrThrow(failure: unknown): ServerAway {
  if (failure instanceof ServerAway) return failure;
  throw failure;
}

class Watching {
  readonly #deps: WatchDeps;
  readonly #resource: string;
  /** Of what was reported, by name. */
  readonly #etags = new Map<string, string>();
  #position: string | undefined;
  #mustList: boolean;
  #needsCollection: boolean;
  /** Whether all that exists was reported. Then a delete of anything else is no news. */
  #hasListed = false;
  /** The name that was last reported as deleted: a stream of one object begins with that. */
  #lastDeleted: string | undefined;
  /** Whether the last stream sent anything but a reset. */
  gotEvents = false;
  /** What the server asked for last. */
  retryMs = defaultRetryMs;

  constructor(deps: WatchDeps, { resource, list, position }: WatchOptions) {
    this.#deps = deps;
    this.#resource = resource;
    this.#position = position;
    this.#mustList = list;
    this.#needsCollection = list;
  }

  /** Follows one stream to its end. */
  async follow(): Promise<void> {
    this.gotEvents = false;
    if (this.#mustList) await this.#list();
    const stream = this.#deps.client.readStream(this.#position);
    try {
      for await (const event of stream.events) await this.#receive(event);
    } finally {
      this.retryMs = stream.retryMs() ?? this.retryMs;
    }
  }

  /** The position of the last page stands for all pages. */
  async #list(): Promise<void> {
    const before = new Set(this.#etags.keys());
    let position: string | undefined;
    for (let cursor: string | undefined = ""; cursor !== undefined; ) {
      const page = await this.#deps.client.readPage(cursor);
      if (page === undefined) return this.#noList();
      position = page.position;
      for (const { id, etag, text } of page.objects) {
        before.delete(id);
        const head = `{"resource":${JSON.stringify(this.#resource)},"id":${JSON.stringify(id)}`;
        const data = `${head},"etag":${JSON.stringify(etag)},"object":${text}}`;
        await this.#reportPut({ kind: "put", name: id, data, text }, etag);
      }
      cursor = page.next;
    }
    for (const id of before) {
      const data = `{"resource":${JSON.stringify(this.#resource)},"id":${JSON.stringify(id)}}`;
      await this.#reportDelete({ kind: "delete", name: id, data });
    }
    this.#position = position;
    this.#hasListed = true;
    this.#mustList = false;
  }

  /** A stream of one object or path begins with what is stored. */
  #noList(): void {
    if (this.#needsCollection) throw new ServiceRefused("--list is for collections: others begin with what is stored");
    this.#mustList = false;
  }

  async #receive({ name, data, id }: ServerSentEvent): Promise<void> {
    if (name === "reset") {
      const { reason } = JSON.parse(data) as { readonly reason: string };
      this.#deps.note(`The position can't be used any more (${reason}); reading again what is stored`);
      this.#position = undefined;
      this.#mustList = true;
      return;
    }
    this.gotEvents = true;
    if (name === "put" || name === "delete") await this.#report(name, data);
    // Not before it was reported.
    if (id !== undefined) this.#position = id;
  }

  async #report(kind: "put" | "delete", data: string): Promise<void> {
    const values = valuesOf(data);
    const name = nameOf(values);
    if (kind === "delete") return await this.#reportDelete({ kind, name, data });
    const text = values.get("object") ?? values.get("value") ?? "null";
    await this.#reportPut({ kind, name, data, text }, JSON.parse(values.get("etag") ?? '""'));
  }

  async #reportPut(change: WatchedChange, etag: string): Promise<void> {
    if (this.#etags.get(change.name) === etag) return;
    await this.#deps.onChange(change);
    this.#etags.set(change.name, etag);
  }

  async #reportDelete(change: WatchedChange): Promise<void> {
    const isNews = this.#etags.has(change.name) || !(this.#hasListed || this.#lastDeleted === change.name);
    if (!isNews) return;
    await this.#deps.onChange(change);
    this.#etags.delete(change.name);
    this.#lastDeleted = change.name;
  }
}

function nameOf(values: ReadonlyMap<string, string>): string {
  const id = values.get("id");
  if (id !== undefined) return JSON.parse(id) as string;
  const rootKey = JSON.parse(values.get("rootKey") ?? '""') as string;
  const path = JSON.parse(values.get("path") ?? "[]") as readonly string[];
  return [rootKey, ...path].map(encodeURIComponent).join("/");
}
