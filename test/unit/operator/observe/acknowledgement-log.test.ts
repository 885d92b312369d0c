// What is logged of acknowledgements that can't be read.

import { expect, it } from "vitest";
import { StoreUnavailable } from "../../../../core/errors/store-errors.ts";
import { RedisFault } from "../../../../core/redis/failure.ts";
import { createAcknowledgementLog } from "../../../../operator/observe/repeated-failures.ts";

it("says at once and then once a minute that replicas' acknowledgements can't be read, and what to do where rights are missing", () => {
  let now = 0;
  const lines: unknown[][] = [];
  const log = createAcknowledgementLog({ warn: (...line) => void lines.push(line) }, () => now);
  const failed = {
    kind: "failed",
    error: new StoreUnavailable("Redis", { cause: new Error("NOPERM no rights") }),
  } as const;
  for (let look = 0; look < 3; look += 1) log(failed);
  expect(lines).toHaveLength(1);
  expect(lines[0]?.[1]).toMatchObject({ advice: expect.stringContaining("docs/reference/redis.md") });
  now = 60_000;
  log(failed);
  expect(lines).toHaveLength(2);
  log({ kind: "looked" });
  log(failed);
  expect(lines).toHaveLength(3);
  const unreadable = { kind: "unreadable", replica: "a", fields: ["refusals"] } as const;
  for (let look = 0; look < 3; look += 1) log(unreadable);
  expect(lines.slice(3)).toEqual([[expect.any(String), { replica: "a", fields: "refusals" }]]);
});

it("says once a minute which usage figures are not valid, and that none can be read", () => {
  let now = 0;
  const lines: unknown[][] = [];
  const log = createAcknowledgementLog({ warn: (...line) => void lines.push(line) }, () => now);
  const unreadable = { kind: "unreadableUsage", replica: "a", projects: ["shop/a", "shop/b"] } as const;
  const failed = { kind: "usageFailed", error: new StoreUnavailable("Redis") } as const;
  for (let look = 0; look < 3; look += 1) for (const observation of [unreadable, failed]) log(observation);
  expect(lines).toEqual([
    [expect.stringContaining("not valid"), { replica: "a", projects: 2, one: "shop/a" }],
    [expect.stringContaining("Failed to read"), { error: expect.stringContaining("Redis") }],
  ]);
  now = 60_000;
  log(unreadable);
  log(failed);
  expect(lines).toHaveLength(4);
});

it("says why none of a replica's usage figures can be read", () => {
  const lines: unknown[][] = [];
  const log = createAcknowledgementLog({ warn: (...line) => void lines.push(line) }, () => 0);
  const error = new RedisFault("Redis failed HGETALL: WRONGTYPE", { code: "WRONGTYPE" });
  log({ kind: "unreadableUsage", replica: "a", projects: [], error });
  expect(lines).toEqual([
    [expect.stringContaining("not valid"), { replica: "a", error: expect.stringContaining("WRONGTYPE") }],
  ]);
});
