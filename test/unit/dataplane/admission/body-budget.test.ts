import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { type BodyBudget, createBodyBudgets } from "../../../../dataplane/admission/memory-budgets.ts";
import { parseBody, receiveBody } from "../../../../dataplane/http/read-body.ts";

const kibibyte = 1024;

/** A body that the test writes piece by piece. */
function arriving(budget: BodyBudget) {
  const stream = new PassThrough();
  const message = Object.assign(stream, { headers: {} }) as unknown as IncomingMessage;
  let release: (() => void) | undefined;
  const onComplete = (give: () => void) => {
    release = give;
  };
  const received = receiveBody(1024 * kibibyte, {
    message,
    budget,
    refused: undefined,
    onComplete,
    sendContinue: () => undefined,
  });
  const read = received.then((bytes) => parseBody(bytes, { inTurn: (work) => work() }));
  const settled = read.then(
    ({ text }) => text.length,
    (error: { code?: string; headers?: unknown }) => error,
  );
  const written = () => release?.();
  const text = (length: number) => new Promise<void>((taken) => stream.write(" ".repeat(length), () => taken()));
  return { stream, settled, text, written };
}

it("refuses the large body that would be too much together with others, and takes it once they are done", async () => {
  const budget = createBodyBudgets(600 * kibibyte).of({});
  const [first, second] = [arriving(budget), arriving(budget)];
  await first.text(200 * kibibyte);
  await second.text(200 * kibibyte);
  expect(await second.settled).toMatchObject({ code: "body_busy", headers: { "Retry-After": "2" } });
  first.stream.end("1");
  expect(await first.settled).toBe(1);
  // In memory until it is written.
  const early = arriving(budget);
  await early.text(200 * kibibyte);
  expect(await early.settled).toMatchObject({ code: "body_busy" });
  first.written();
  const third = arriving(budget);
  await third.text(200 * kibibyte);
  third.stream.end("12");
  expect(await third.settled).toBe(2);
});

it("takes small bodies whatever large ones wait", async () => {
  const budget = createBodyBudgets(200 * kibibyte).of({});
  const large = arriving(budget);
  await large.text(100 * kibibyte);
  const small = arriving(budget);
  small.stream.end(`${" ".repeat(60 * kibibyte)}1`);
  expect(await small.settled).toBe(1);
});

it.each(["is refused for its text", "is too long", "breaks off"])("forgets a body that %s", async (how) => {
  const budget = createBodyBudgets(2200 * kibibyte).of({});
  for (let n = 0; n < 20; n += 1) {
    const { stream, settled, text, written } = arriving(budget);
    await text(100 * kibibyte);
    if (how === "is refused for its text") stream.end("{");
    else if (how === "is too long") stream.end(" ".repeat(1000 * kibibyte));
    else stream.destroy();
    expect(await settled).toMatchObject({ code: expect.not.stringMatching("body_busy") });
    written();
  }
  const last = arriving(budget);
  await last.text(1000 * kibibyte);
  last.stream.end("1");
  expect(await last.settled).toBe(1);
});

it("leaves half of the budget to other projects", async () => {
  const budgets = createBodyBudgets(400 * kibibyte);
  const [loud, quiet] = [budgets.of({}), budgets.of({})];
  const waiting = arriving(loud);
  await waiting.text(200 * kibibyte);
  const refused = arriving(loud);
  await refused.text(70 * kibibyte);
  expect(await refused.settled).toMatchObject({ code: "body_busy" });
  const other = arriving(quiet);
  await other.text(190 * kibibyte);
  other.stream.end("1");
  expect(await other.settled).toBe(1);
});
