import { describe, expect, it } from "vitest";
import { upgradeStarts } from "../../../../tools/nightly/upgrade-starts.ts";

const landings = ["a", "b", "c", "d", "e", "f", "g"];

describe("the commits that a night upgrades from", () => {
  it("are the oldest and two others by the seed, never the newest", () => {
    expect(upgradeStarts(landings, "0")).toEqual(["a", "b", "e"]);
    expect(upgradeStarts(landings, "4")).toEqual(["a", "f", "d"]);
    expect(upgradeStarts(landings, "987654321")).toHaveLength(3);
  });

  it("are every one in as many nights as there are commits", () => {
    const nights = landings.map((_, night) => upgradeStarts(landings, String(night)));
    expect(new Set(nights.flat())).toEqual(new Set(landings.slice(0, -1)));
  });

  it("are as many as there are where these are few, each once", () => {
    expect(upgradeStarts(["a"], "3")).toEqual([]);
    expect(upgradeStarts(["a", "b"], "3")).toEqual(["a"]);
    expect(upgradeStarts(["a", "b", "c"], "3")).toEqual(["a", "b"]);
  });
});
