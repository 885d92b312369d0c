// Requests of `jsonplane watch`: reads the stream of changes, and pages of a list. Throws as
// service.ts does.

import { eventStream, readEventStream } from "../../core/http/event-stream.ts";
import { type ServerSentEvent, ServerSentEventParser } from "../../core/http/server-sent-events.ts";
import {
  createService,
  type ListedPage,
  reasonOf,
  requireType,
  ServerAway,
  type ServiceOptions,
  ServiceRefused,
} from "../service/service.ts";

export interface ChangesStream {
  /** The request is sent once they are read, and what refuses it is thrown. */
  readonly events: AsyncIterable<ServerSentEvent>;
  /** What the server has asked for so far. */
  retryMs(): number | undefined;
}

export interface ChangesClient {
  readStream(position: string | undefined): ChangesStream;
  /** The first page with an empty cursor. Undefined = the URL isn't that of a collection. */
  readPage(cursor: string): Promise<ListedPage | undefined>;
}

export interface ClientOptions extends ServiceOptions {
  readonly signal: AbortSignal;
  /** Without `_position`. */
  readonly url: URL;
}

export function createChangesClient(options: ClientOptions): ChangesClient {
  const { url, signal } = options;
  const service = createService(options);

  return {
    readStream(position) {
      const from = position === undefined ? {} : { "Last-Event-ID": position };
      const open = async (aborted: AbortSignal): Promise<ReadableStream<Uint8Array>> => {
        const response = await service.read(url, { Accept: eventStream, ...from }, aborted);
        requireType(response, url, eventStream, "a stream of changes");
        return response.body ?? new Blob([]).stream();
      };
      const parser = new ServerSentEventParser();
      return { events: orAway(readEventStream(open, parser, signal)), retryMs: () => parser.retryMs };
    },

    async readPage(cursor) {
      if (!isCollection(url)) return undefined;
      const page = await service.readPage(url, cursor);
      if (page === undefined || page.position !== undefined) return page;
      const at = `${url.origin}${url.pathname}`;
      // The first page shows whether there are any now.
      if (cursor !== "") throw new ServerAway(`The changes of ${at} began or ended while it was listed`);
      throw new ServiceRefused(`${at} has no changes to watch: its manifest doesn't declare spec.changes`);
    },
  };
}

function isCollection({ pathname }: URL): boolean {
  return /\/api\/[^/]+\/?$/.test(pathname);
}

async function* orAway(events: AsyncIterable<ServerSentEvent>): AsyncGenerator<ServerSentEvent> {
  try {
    yield* events;
  } catch (cause) {
    if (cause instanceof ServiceRefused || cause instanceof ServerAway) throw cause;
    throw new ServerAway(`The stream broke off${reasonOf(cause)}`, { cause });
  }
}
