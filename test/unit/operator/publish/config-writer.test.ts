// How often Redis is opened while it can't be, and what counts as a beginning.

import { expect, it } from "vitest";
import { StoreUnavailable } from "../../../../core/errors/store-errors.ts";
import { createConfigWriter, type OpenRedis } from "../../../../operator/publish/config-writer.ts";

it("whoever asks while Redis is away costs one opening per backoff, all together, and the look opens in any case", async () => {
  let now = 0;
  let openings = 0;
  const away = new StoreUnavailable("Redis is away");
  const writer = createConfigWriter({
    open: async () => {
      openings += 1;
      throw away;
    },
    confirm: async () => true,
    takeOver: false,
    onSessionBegun: async () => undefined,
    monotonic: () => now,
  });
  const ask = async (times: number): Promise<void> => {
    for (let time = 0; time < times; time += 1) await expect(writer.session()).rejects.toBe(away);
  };
  const opened: number[] = [];
  for (const moment of [0, 249, 250, 749, 750, 1_750, 3_750, 8_750, 13_749, 13_750]) {
    now = moment;
    await ask(100);
    opened.push(openings);
  }
  expect(opened).toEqual([1, 1, 2, 2, 3, 4, 5, 6, 6, 7]);
  await expect(writer.verify()).rejects.toBe(away);
  expect(openings).toBe(8);
});

it("a beginning that failed before everything was to be published is begun anew, also where an earlier one had gone well", async () => {
  let writes = false;
  const publisher = {
    async begin() {
      writes = true;
    },
    isWriter: () => writes,
    verify: async () => "writer",
  };
  const config = { publisher } as unknown as OpenRedis;
  const begun: string[] = [];
  let now = 0;
  let outcome = "published";
  const writer = createConfigWriter({
    open: async () => config,
    confirm: async () => true,
    takeOver: false,
    async onSessionBegun() {
      begun.push(outcome);
      if (outcome === "failed") throw new Error("the API server is away");
    },
    monotonic: () => now,
  });
  await writer.session();
  // Redis was emptied.
  writes = false;
  outcome = "failed";
  await expect(writer.verify()).rejects.toThrow("the API server is away");
  await expect(writer.session()).rejects.toThrow("the API server is away");
  expect(begun).toEqual(["published", "failed"]);
  now = 250;
  await expect(writer.session()).rejects.toThrow("the API server is away");
  outcome = "published";
  await writer.verify();
  await writer.session();
  expect(begun).toEqual(["published", "failed", "failed", "published"]);
});
