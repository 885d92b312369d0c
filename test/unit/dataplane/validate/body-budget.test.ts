import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { type BodyBudget, createBodyBudget } from "../../../../dataplane/validate/body-budget.ts";
import { readBody } from "../../../../dataplane/validate/read-body.ts";

const kibibyte = 1024;

/** A body that the test writes piece by piece. */
function arriving(budget: BodyBudget) {
  const stream = new PassThrough();
  const message = Object.assign(stream, { headers: {} }) as unknown as IncomingMessage;
  const read = readBody(1024 * kibibyte, { message, budget, refused: undefined, invite: () => undefined });
  const settled = read.then(
    ({ text }) => text.length,
    (error: { code?: string; headers?: unknown }) => error,
  );
  const text = (length: number) => new Promise<void>((taken) => stream.write(" ".repeat(length), () => taken()));
  return { stream, settled, text };
}

it("refuses the large body that would be too much together with others, and takes it once they are done", async () => {
  const budget = createBodyBudget(300 * kibibyte);
  const [first, second] = [arriving(budget), arriving(budget)];
  await first.text(200 * kibibyte);
  await second.text(200 * kibibyte);
  expect(await second.settled).toMatchObject({ code: "body_busy", headers: { "Retry-After": "2" } });
  first.stream.end("1");
  expect(await first.settled).toBe(1);
  const third = arriving(budget);
  await third.text(200 * kibibyte);
  third.stream.end("12");
  expect(await third.settled).toBe(2);
});

it("takes small bodies whatever large ones wait", async () => {
  const budget = createBodyBudget(100 * kibibyte);
  const large = arriving(budget);
  await large.text(100 * kibibyte);
  const small = arriving(budget);
  small.stream.end(`${" ".repeat(60 * kibibyte)}1`);
  expect(await small.settled).toBe(1);
});

it.each(["is refused for its text", "is too long", "breaks off"])("forgets a body that %s", async (how) => {
  const budget = createBodyBudget(1100 * kibibyte);
  for (let n = 0; n < 20; n += 1) {
    const { stream, settled, text } = arriving(budget);
    await text(100 * kibibyte);
    if (how === "is refused for its text") stream.end("{");
    else if (how === "is too long") stream.end(" ".repeat(1000 * kibibyte));
    else stream.destroy();
    expect(await settled).toMatchObject({ code: expect.not.stringMatching("body_busy") });
  }
  const last = arriving(budget);
  await last.text(1000 * kibibyte);
  last.stream.end("1");
  expect(await last.settled).toBe(1);
});
