import { describe, expect, it } from "vitest";
import { durationSeconds } from "../../../../core/config/duration.ts";

describe("durationSeconds", () => {
  it.each([
    ["90s", 90],
    ["5m", 300],
    ["72h", 259_200],
    ["1h30m", 5_400],
    ["1h1m1s", 3_661],
    ["0s", 0],
    ["99999h", 359_996_400],
  ])("reads %s", (text, seconds) => {
    expect(durationSeconds(text)).toBe(seconds);
  });

  it.each(["", "5", "m", "-5m", "5 m", "5M", "1d", "1.5h", "5m ", "1h1m1s1h", "100000s", "５m"])(
    "refuses %j",
    (text) => {
      expect(durationSeconds(text)).toBeUndefined();
    },
  );
});
