import { describe, expect, it } from "vitest";
import { isWorthReporting, storedObjectsMember } from "../../../../operator/status/stored-objects-status.ts";

describe("a Project's status", () => {
  it("reports the count, and keeps it where there is nothing new to report", () => {
    expect(storedObjectsMember({}, 3)).toEqual({ storedObjects: 3 });
    expect(storedObjectsMember({ storedObjects: 3 }, 0)).toEqual({ storedObjects: 0 });
    expect(storedObjectsMember({ storedObjects: 3 }, undefined)).toEqual({ storedObjects: 3 });
    expect(storedObjectsMember({}, undefined)).toEqual({});
  });

  it.each<readonly [count: number, reported: number | undefined, isWorth: boolean]>([
    [0, undefined, false],
    [1, undefined, true],
    [0, 1, true],
    [1, 0, true],
    [7, 7, false],
    [8, 7, true],
    [1_009, 1_000, false],
    [1_010, 1_000, true],
    [991, 1_000, false],
    [990, 1_000, true],
  ])("is worth a write where %i objects are stored and it reports %s: %s", (count, storedObjects, isWorth) => {
    expect(isWorthReporting(storedObjects === undefined ? {} : { storedObjects }, count)).toBe(isWorth);
    if (storedObjects === undefined) expect(isWorthReporting(undefined, count)).toBe(isWorth);
  });
});
