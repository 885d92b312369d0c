// Requests of `jsonplane watch`: reads the stream of changes, and pages of a list. Throws
// WatchRefused where the same request would be refused again, and ServerAway where it may succeed.

import { eventStream, isRetryable, readEventStream } from "../../core/http/event-stream.ts";
import { type ServerSentEvent, ServerSentEventParser } from "../../core/http/server-sent-events.ts";
import { elementsOf, valuesOf } from "../../core/json/members.ts";

/** Its message is for the person who started the command. */
export class WatchRefused extends Error {
  override readonly name = "WatchRefused";
}

/** The server can't be reached, or can't answer now. */
export class ServerAway extends Error {
  override readonly name = "ServerAway";
  readonly retryAfterMs: number;

  constructor(message: string, { retryAfterMs = 0, cause }: { retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, { cause });
    this.retryAfterMs = retryAfterMs;
  }
}

export interface ChangesStream {
  /** The request is sent once they are read, and what refuses it is thrown. */
  readonly events: AsyncIterable<ServerSentEvent>;
  /** What the server has asked for so far. */
  retryMs(): number | undefined;
}

export interface ListedObject {
  readonly id: string;
  readonly etag: string;
  /** As JSON, exactly as it was sent. */
  readonly text: string;
}

export interface ListedPage {
  readonly objects: readonly ListedObject[];
  readonly position: string;
  /** The cursor of the next page; undefined = this is the last one. */
  readonly next: string | undefined;
}

export interface ChangesClient {
  readStream(position: string | undefined): ChangesStream;
  /** The first page with an empty cursor. Undefined = the URL isn't that of a collection. */
  readPage(cursor: string): Promise<ListedPage | undefined>;
}

export interface ClientOptions {
  readonly fetch: typeof fetch;
  /** Without `_position`. */
  readonly url: URL;
  /** The Authorization header, read for each request: tokens are renewed in their file. */
  readonly authorization: () => Promise<string | undefined>;
  readonly signal: AbortSignal;
}

/** More is refused by projects that don't raise it. */
const pageLimit = 100;
const authorizationHint = "; name a file with a credential with --api-key-file or --token-file";

export function createChangesClient(options: ClientOptions): ChangesClient {
  const { url, signal } = options;

  const send = async (to: URL, headers: Readonly<Record<string, string>>, aborted: AbortSignal): Promise<Response> => {
    const authorization = await options.authorization();
    const credential = authorization === undefined ? {} : { Authorization: authorization };
    try {
      return await options.fetch(to, { headers: { ...headers, ...credential }, signal: aborted });
    } catch (cause) {
      throw new ServerAway(`${to.origin} can't be reached${reasonOf(cause)}`, { cause });
    }
  };

  const failureOf = async (response: Response): Promise<Error> => {
    const said = problemIn(await response.text().catch(() => ""));
    const message = `${url.origin}${url.pathname} answers ${response.status}${said}`;
    if (isRetryable(response.status)) {
      return new ServerAway(message, { retryAfterMs: 1_000 * (Number(response.headers.get("retry-after")) || 0) });
    }
    return new WatchRefused(response.status === 401 ? message + authorizationHint : message);
  };

  return {
    readStream(position) {
      const from = position === undefined ? {} : { "Last-Event-ID": position };
      const open = async (aborted: AbortSignal): Promise<ReadableStream<Uint8Array>> => {
        const response = await send(url, { Accept: eventStream, ...from }, aborted);
        if (response.status !== 200) throw await failureOf(response);
        const type = response.headers.get("content-type") ?? "nothing";
        if (type.startsWith(eventStream) && response.body !== null) return response.body;
        throw new WatchRefused(`${url.origin}${url.pathname} answers with ${type}, not with a stream of changes`);
      };
      const parser = new ServerSentEventParser();
      return { events: orAway(readEventStream(open, parser, signal)), retryMs: () => parser.retryMs };
    },

    async readPage(cursor) {
      if (!isCollection(url)) return undefined;
      const page = new URL(url);
      const asked = `_cursor=${encodeURIComponent(cursor)}&_limit=${pageLimit}&_etags=true&_count=false`;
      page.search = [url.search.slice(1), asked].filter(Boolean).join("&");
      const response = await send(page, { Accept: "application/json" }, signal);
      if (response.status !== 200) throw await failureOf(response);
      const text = await response.text().catch((cause: unknown) => {
        throw new ServerAway(`${url.origin} broke off${reasonOf(cause)}`, { cause });
      });
      // A path below a root key may be called api/books, too.
      if (!text.startsWith('{"items":[')) return undefined;
      const position = response.headers.get("changes-position");
      if (position === null) throw new WatchRefused(`${url.origin}${url.pathname} has no changes to watch`);
      return { ...pageOf(text), position };
    },
  };
}

function isCollection({ pathname }: URL): boolean {
  return /\/api\/[^/]+\/?$/.test(pathname);
}

function pageOf(text: string): Omit<ListedPage, "position"> {
  const values = valuesOf(text);
  const etags = JSON.parse(values.get("etags") ?? "{}") as Readonly<Record<string, string>>;
  const objects = elementsOf(values.get("items") ?? "[]").map((item) => {
    const { id } = JSON.parse(item) as { readonly id: string };
    return { id, etag: etags[id] ?? "", text: item };
  });
  const { next } = JSON.parse(values.get("links") ?? "{}") as { readonly next?: string };
  // Nothing but the cursor: a link may lead to another host, which is to get no credential.
  const cursor = next === undefined ? undefined : new URL(next, "http://localhost").searchParams.get("_cursor");
  return { objects, next: cursor ?? undefined };
}

async function* orAway(events: AsyncIterable<ServerSentEvent>): AsyncGenerator<ServerSentEvent> {
  try {
    yield* events;
  } catch (cause) {
    if (cause instanceof WatchRefused || cause instanceof ServerAway) throw cause;
    throw new ServerAway(`The stream broke off${reasonOf(cause)}`, { cause });
  }
}

function problemIn(text: string): string {
  try {
    const { code, detail } = JSON.parse(text) as { readonly code?: unknown; readonly detail?: unknown };
    return typeof code === "string" ? ` ${code}${typeof detail === "string" ? `: ${detail}` : ""}` : "";
  } catch {
    return "";
  }
}

/** fetch hides the reason in the cause. */
function reasonOf(failure: unknown): string {
  const { message, cause } = failure as Error;
  const said = cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.message) : message;
  return said ? ` (${said})` : "";
}
