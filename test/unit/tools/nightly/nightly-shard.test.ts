import { describe, expect, it } from "vitest";
import { nightlyShard } from "../../../../tools/nightly/nightly-shard.ts";
import { WrongArguments } from "../../../../tools/script-arguments.ts";
import { shardOf } from "../../../mutations/shard.ts";

const mutations = ["a", "b", "c", "d", "e", "f", "g"];

describe("the mutations of a night", () => {
  it("are every third, by the seed", () => {
    expect(shardOf(mutations, nightlyShard("0"))).toEqual(["a", "d", "g"]);
    expect(shardOf(mutations, nightlyShard("4"))).toEqual(["b", "e"]);
    expect(shardOf(mutations, nightlyShard("987654323"))).toEqual(["c", "f"]);
  });

  it("are all of them, each once, in three nights", () => {
    const nights = ["7", "8", "9"].flatMap((seed) => shardOf(mutations, nightlyShard(seed)));
    expect(nights.toSorted()).toEqual(mutations);
  });

  it("are all where a person asks for no shard", () => {
    expect(shardOf(mutations, "1/1")).toEqual(mutations);
  });

  it.each(["0/3", "4/3", "1", "a/b", "1/0", "-1/3", "1/3/5"])("refuses %s", (shard) => {
    expect(() => shardOf(mutations, shard)).toThrow(WrongArguments);
  });
});
