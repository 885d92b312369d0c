import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { createMemoryBudget, type MemoryShare } from "../../../../dataplane/admission/memory-budgets.ts";
import { parseBody, receiveBody } from "../../../../dataplane/http/read-body.ts";

/** Counts how often it is asked. */
function countingLimiter() {
  const counting = { asked: 0 };
  const runFairly = <T>(work: () => T): T => {
    counting.asked += 1;
    return work();
  };
  return Object.assign(counting, { runFairly });
}

it("reads a body of a mebibyte in a turn for each 32 KiB, one that is wrong at its end alike", async () => {
  const text = `[${"0,".repeat(512 * 1024 - 1)}0]`;
  const right = countingLimiter();
  await parseBody(Buffer.from(text), right);
  expect(right.asked).toBe(33);
  const wrong = countingLimiter();
  await expect(parseBody(Buffer.from(text.replace(/]$/, "}")), wrong)).rejects.toMatchObject({
    code: "malformed_json",
  });
  expect(wrong.asked).toBe(33);
});

it("reads a usual body in one turn", async () => {
  const limiter = countingLimiter();
  expect(await parseBody(Buffer.from('{"a":[1,2]}'), limiter)).toEqual({
    text: '{"a":[1,2]}',
    kind: "object",
    depth: 2,
  });
  expect(limiter.asked).toBe(1);
});

const kibibyte = 1024;

/** A share of as many bytes. */
function shareOf(bytes: number): MemoryShare {
  return createMemoryBudget(2 * bytes).of({});
}

/** A body that the test writes piece by piece. */
function arriving(memory: MemoryShare) {
  const stream = new PassThrough();
  const message = Object.assign(stream, { headers: {} }) as unknown as IncomingMessage;
  let release: (() => void) | undefined;
  const received = receiveBody(1024 * kibibyte, memory, { request: { raw: message } });
  const settled = received
    .then((body) => {
      release = body.release;
      return parseBody(body.bytes, countingLimiter());
    })
    .then(
      ({ text }) => text.length,
      (error: { code?: string; headers?: unknown }) => error,
    );
  const written = () => release?.();
  const text = (words: string) => new Promise<void>((taken) => stream.write(words, () => taken()));
  return { stream, settled, text, written };
}

it("refuses the body that has no room beside others, however small its pieces are, and takes it once those are written", async () => {
  const memory = shareOf(100 * kibibyte);
  const first = arriving(memory);
  await first.text(" ".repeat(40 * kibibyte));
  const second = arriving(memory);
  for (let n = 0; n < 40; n += 1) await second.text(" ".repeat(kibibyte));
  expect(await second.settled).toMatchObject({ code: "body_busy", headers: { "Retry-After": "2" } });
  first.stream.end("1");
  expect(await first.settled).toBe(1);
  // In memory until it is written.
  const early = arriving(memory);
  await early.text(" ".repeat(30 * kibibyte));
  expect(await early.settled).toMatchObject({ code: "body_busy" });
  first.written();
  const third = arriving(memory);
  await third.text(" ".repeat(30 * kibibyte));
  third.stream.end("12");
  expect(await third.settled).toBe(2);
});

it("puts the pieces together in their order", async () => {
  const { stream, settled, text } = arriving(shareOf(kibibyte));
  for (const piece of ['["', "one", '",', '"', "two", '"']) await text(piece);
  stream.end("]");
  expect(await settled).toBe('["one","two"]'.length);
});

it.each(["is refused for its text", "is too long", "breaks off"])("forgets a body that %s", async (how) => {
  const memory = shareOf(1100 * kibibyte);
  for (let n = 0; n < 20; n += 1) {
    const { stream, settled, text, written } = arriving(memory);
    await text(" ".repeat(100 * kibibyte));
    if (how === "is refused for its text") stream.end("{");
    else if (how === "is too long") stream.end(" ".repeat(1000 * kibibyte));
    else stream.destroy();
    expect(await settled).toMatchObject({ code: expect.not.stringMatching("body_busy") });
    written();
  }
  const last = arriving(memory);
  await last.text(" ".repeat(1000 * kibibyte));
  last.stream.end("1");
  expect(await last.settled).toBe(1);
});
