// What is logged of watches that are interrupted.

import { describe, expect, it } from "vitest";
import { ApiFailure, ApiUnreachable } from "../../../../operator/kube/api.ts";
import { createInterruptionLog } from "../../../../operator/observe/repeated-failures.ts";

function begun() {
  let now = 0;
  const lines: [level: string, message: string, fields: object | undefined][] = [];
  const to = (level: string) => (message: string, fields?: object) => void lines.push([level, message, fields]);
  const log = createInterruptionLog({ warn: to("warn"), debug: to("debug") } as never, () => now);
  return {
    log,
    failed: (kind: string, error: unknown = new ApiUnreachable("refused")) =>
      log(kind, { what: "failed", error, pauseMs: 250 }),
    levels: () => lines.splice(0).map(([level]) => level),
    lines,
    pass(milliseconds: number) {
      now += milliseconds;
    },
  };
}

describe("a watch that fails", () => {
  it("is a warning at once and then once a minute, for each kind", () => {
    const { failed, levels, pass } = begun();
    for (const kind of ["Secret", "Secret", "ApiKey", "Secret"]) failed(kind);
    expect(levels()).toEqual(["warn", "debug", "warn", "debug"]);
    pass(59_999);
    failed("Secret");
    pass(1);
    failed("Secret");
    failed("Secret");
    expect(levels()).toEqual(["debug", "warn", "debug"]);
  });

  it("goes on failing where nothing but a list succeeds in between, and is news again after a watch has begun", () => {
    const { log, failed, levels } = begun();
    failed("Secret");
    log("Secret", { what: "listed", objects: 1, differences: 0, first: false });
    failed("Secret");
    expect(levels()).toEqual(["warn", "debug"]);
    log("Secret", { what: "watching" });
    failed("Secret");
    expect(levels()).toEqual(["warn"]);
  });

  it.each([
    [401, "token"],
    [403, "rights"],
    [404, "CRDs"],
  ])("comes with advice after %s", (status, advice) => {
    const { failed, lines } = begun();
    failed("ApiKey", new ApiFailure(status, { message: "no" }));
    expect(lines).toEqual([
      [
        "warn",
        "List or watch failed",
        { kind: "ApiKey", error: expect.any(String), advice: expect.stringContaining(advice) },
      ],
    ]);
  });
});

it("changes that no watch delivered are a warning, however often they are found", () => {
  const { log, lines } = begun();
  for (const behind of [0, 2]) log("ApiKey", { what: "compared", behind });
  expect(lines).toEqual([["warn", "Watch missed changes; listing again", { kind: "ApiKey", objects: 2 }]]);
});
