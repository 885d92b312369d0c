// Follows changes until it is aborted: from now on, or after the current objects; again from its
// position when the connection ends; from a new list when the server can't go on from there. Tells
// what changed, each time once. Throws WatchRefused where the server refuses.

import { backoffMs } from "../../core/backoff.ts";
import type { ServerSentEvent } from "../../core/http/server-sent-events.ts";
import { valuesOf } from "../../core/json/members.ts";
import { type ChangesServer, ServerAway, WatchRefused } from "./changes-server.ts";

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
  readonly server: ChangesServer;
  /** Resolves early when the watch is aborted. */
  readonly pause: (milliseconds: number) => Promise<void>;
  readonly onChange: (change: WatchedChange) => Promise<void>;
  /** Tells the person what goes on, in a sentence without a full stop. */
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
    if (away !== undefined && (watching.cameOn || failures === 0)) deps.note(`${away.message}; trying again`);
    failures = watching.cameOn ? 1 : failures + 1;
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
  /** Entity tags of what was told, by name. */
  readonly #told = new Map<string, string>();
  #position: string | undefined;
  #mustList: boolean;
  #needsCollection: boolean;
  /** Whether all that exists was told: then what wasn't is no news when it goes. */
  #isWhole = false;
  /** What was told last as deleted: a stream of one object begins with that. */
  #gone: string | undefined;
  /** Whether the last stream sent anything but a reset. */
  cameOn = false;
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
    this.cameOn = false;
    if (this.#mustList) await this.#list();
    const stream = this.#deps.server.readStream(this.#position);
    try {
      for await (const event of stream.events) await this.#receive(event);
    } finally {
      this.retryMs = stream.retryMs() ?? this.retryMs;
    }
  }

  /** From the position of the last page nothing is missed that changes meanwhile. */
  async #list(): Promise<void> {
    const before = new Set(this.#told.keys());
    let position: string | undefined;
    for (let cursor: string | undefined = ""; cursor !== undefined; ) {
      const page = await this.#deps.server.readPage(cursor);
      if (page === undefined) return this.#noList();
      position = page.position;
      for (const { id, etag, text } of page.objects) {
        before.delete(id);
        const head = `{"resource":${JSON.stringify(this.#resource)},"id":${JSON.stringify(id)}`;
        const data = `${head},"etag":${JSON.stringify(etag)},"object":${text}}`;
        await this.#tellPut({ kind: "put", name: id, data, text }, etag);
      }
      cursor = page.next;
    }
    for (const id of before) {
      const data = `{"resource":${JSON.stringify(this.#resource)},"id":${JSON.stringify(id)}}`;
      await this.#tellDelete({ kind: "delete", name: id, data });
    }
    this.#position = position;
    this.#isWhole = true;
    this.#mustList = false;
  }

  /** A stream of one object or path begins with what is stored. */
  #noList(): void {
    if (this.#needsCollection) throw new WatchRefused("--list is for collections: others begin with what is stored");
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
    this.cameOn = true;
    if (name === "put" || name === "delete") await this.#tell(name, data);
    // Not before it was told.
    if (id !== undefined) this.#position = id;
  }

  async #tell(kind: "put" | "delete", data: string): Promise<void> {
    const values = valuesOf(data);
    const name = nameOf(values);
    if (kind === "delete") return await this.#tellDelete({ kind, name, data });
    const text = values.get("object") ?? values.get("value") ?? "null";
    await this.#tellPut({ kind, name, data, text }, JSON.parse(values.get("etag") ?? '""'));
  }

  async #tellPut(change: WatchedChange, etag: string): Promise<void> {
    if (this.#told.get(change.name) === etag) return;
    await this.#deps.onChange(change);
    this.#told.set(change.name, etag);
  }

  async #tellDelete(change: WatchedChange): Promise<void> {
    const isNews = this.#told.has(change.name) || !(this.#isWhole || this.#gone === change.name);
    if (!isNews) return;
    await this.#deps.onChange(change);
    this.#told.delete(change.name);
    this.#gone = change.name;
  }
}

function nameOf(values: ReadonlyMap<string, string>): string {
  const id = values.get("id");
  if (id !== undefined) return JSON.parse(id) as string;
  const rootKey = JSON.parse(values.get("rootKey") ?? '""') as string;
  const path = JSON.parse(values.get("path") ?? "[]") as readonly string[];
  return [rootKey, ...path].map(encodeURIComponent).join("/");
}
