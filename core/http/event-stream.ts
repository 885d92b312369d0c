// Reads a stream of changes by `fetch`, in a browser or in Node, and gives up a connection that is
// dead: neither notices that for minutes. docs/reference/changes.md has the protocol.

import type { ServerSentEvent, ServerSentEventParser } from "./server-sent-events.ts";

export const eventStream = "text/event-stream";
/** A server sends a bookmark every 20 seconds. */
const maxSilenceMs = 45_000;
const retryable: ReadonlySet<number> = new Set([408, 425, 429]);

/** Whether the same request may succeed later than one that got this status. */
export function isRetryable(status: number): boolean {
  return status >= 500 || retryable.has(status);
}

/**
 * The events of a stream. `send` returns the body of the response, or nothing where that is no
 * stream. Throws what `send` does, also where nothing has come for too long.
 */
export async function* readEventStream(
  send: (signal: AbortSignal) => Promise<ReadableStream<Uint8Array> | undefined>,
  parser: ServerSentEventParser,
  signal: AbortSignal,
): AsyncGenerator<ServerSentEvent> {
  const ending = new AbortController();
  // The time that the caller takes for an event doesn't count.
  const inTime = async <T>(waiting: Promise<T>): Promise<T> => {
    const silence = new Error(`nothing came for ${maxSilenceMs / 1_000} seconds`);
    const timer = setTimeout(() => ending.abort(silence), maxSilenceMs);
    return await waiting.finally(() => clearTimeout(timer));
  };
  try {
    const body = await inTime(send(AbortSignal.any([signal, ending.signal])));
    if (body === undefined) return;
    // Safari can't iterate over a stream.
    const reader = body.getReader();
    for (;;) {
      const { done, value } = await inTime(reader.read());
      if (done) return;
      yield* parser.push(value);
    }
  } finally {
    // Also where nobody takes the rest.
    ending.abort();
  }
}
