// Reading a stream of changes whose bytes come when the test says so.

import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { readEventStream } from "../../../../core/http/event-stream.ts";
import { ServerSentEventParser } from "../../../../core/http/server-sent-events.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const never = new AbortController().signal;

/** As `fetch` does: breaks off when the signal is aborted. */
function answered(signal: AbortSignal, ...texts: readonly string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const text of texts) controller.enqueue(new TextEncoder().encode(text));
      signal.addEventListener("abort", () => controller.error(signal.reason));
    },
  });
}

it("gives up a stream that has been silent for 45 seconds", async () => {
  const events = readEventStream(async (signal) => answered(signal, "data: a\n\n"), new ServerSentEventParser(), never);
  expect((await events.next()).value?.data).toBe("a");
  const next = events.next();
  const failed = expect(next).rejects.toThrow("nothing came for 45 seconds");
  await vi.advanceTimersByTimeAsync(45_000);
  await failed;
});

it("gives up a request that nobody answers, too", async () => {
  const send = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const failed = expect(readEventStream(send, new ServerSentEventParser(), never).next()).rejects.toThrow("45 seconds");
  await vi.advanceTimersByTimeAsync(45_000);
  await failed;
});

it("waits for whoever uses the events, and ends the request when they are no longer read", async () => {
  let aborted: AbortSignal | undefined;
  const open = async (signal: AbortSignal) => {
    aborted = signal;
    return answered(signal, "data: a\n\n", "data: b\n\n");
  };
  for await (const { data } of readEventStream(open, new ServerSentEventParser(), never)) {
    await vi.advanceTimersByTimeAsync(120_000);
    expect(aborted?.aborted).toBe(false);
    if (data === "b") break;
  }
  expect(aborted?.aborted).toBe(true);
});
