// The key by which the server knows that two requests create the same object.

import { expect, it } from "vitest";
import { newIdempotencyKey } from "../../../../../pages/console/objects/use-creation.ts";

it("is a new one each time", () => {
  expect(newIdempotencyKey()).not.toBe(newIdempotencyKey());
});

it("is as random where the page was not loaded over HTTPS", () => {
  const insecure = { getRandomValues: crypto.getRandomValues.bind(crypto) };
  expect(newIdempotencyKey(insecure)).toMatch(/^[0-9a-f]{32}$/);
  expect(newIdempotencyKey(insecure)).not.toBe(newIdempotencyKey(insecure));
});
