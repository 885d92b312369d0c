// The scripts that read ranges of a sorted set: what each one answers.

import { beforeEach, describe, expect, it } from "vitest";
import { collectionKeys } from "../../../dataplane/store/redis/keys.ts";
import { createRangeScripts, idIn, type ReadRanges } from "../../../dataplane/store/redis/lists/ranges.ts";
import { useScriptBench } from "../../support/redis/script-bench.ts";

const keys = collectionKeys({ project: { namespace: "ns", name: "shop" }, resource: "books" });
const bench = useScriptBench();
const scripts = () => createRangeScripts(bench.redisClient);

const ids = Array.from({ length: 6 }, (_, n) => `0199b1c0-0000-7000-8000-00000000000${n}`);
const idOf = (n: number) => ids[n];
const all = { from: "[3", to: "(4" };

/** Members `3<n> 0 <id n>`. */
beforeEach(async () => {
  for (const [n, id] of ids.entries()) {
    await bench.client.zadd(keys.index(1), 0, `3${n}\0${id}`);
  }
  await bench.client.hset(keys.indexSet, "version", "v1");
});

const read = (more: Partial<ReadRanges>) =>
  scripts().ranges({
    keys,
    set: keys.index(1),
    version: "v1",
    idIs: "last",
    offset: 0,
    limit: 10,
    descending: false,
    counted: [],
    shown: [all],
    ...more,
  });

describe("read-ranges", () => {
  it("answers the ids of the members in the ranges, and what was to be counted", async () => {
    expect(await read({ counted: [all] })).toEqual({
      count: 6,
      ids,
      last: undefined,
    });
    const shown = [
      { from: "[31", to: "(32" },
      { from: `(34\0${ids[3]}`, to: "+" },
    ];
    expect(await read({ shown })).toMatchObject({ count: 0, ids: [1, 4, 5].map(idOf) });
  });

  it("names the last member while there are more", async () => {
    expect(await read({ limit: 2 })).toMatchObject({ ids: [0, 1].map(idOf), last: `31\0${ids[1]}` });
    expect(await read({ limit: 2, descending: true })).toMatchObject({
      ids: [5, 4].map(idOf),
      last: `34\0${ids[4]}`,
    });
    expect(await read({ limit: 6 })).toMatchObject({ last: undefined });
    expect(await read({ limit: 0 })).toMatchObject({ ids: [], last: undefined });
  });

  it("skips an offset over the borders of ranges, both ways", async () => {
    const [low, high] = [
      { from: "[30", to: "(33" },
      { from: "[34", to: "(36" },
    ];
    expect(await read({ shown: [low, high], offset: 2 })).toMatchObject({ ids: [2, 4, 5].map(idOf) });
    expect(await read({ shown: [low, high], offset: 3, limit: 1 })).toMatchObject({ ids: [ids[4]] });
    const descending = { shown: [high, low], descending: true } as const;
    expect(await read({ ...descending, offset: 1 })).toMatchObject({ ids: [4, 2, 1, 0].map(idOf) });
    expect(await read({ ...descending, offset: 9 })).toMatchObject({ ids: [] });
    expect(await read({ shown: [{ from: "-", to: "+" }], offset: 4 })).toMatchObject({ ids: [4, 5].map(idOf) });
  });

  it("reads a set that is no index whatever the version, where ids stand first", async () => {
    await bench.client.zadd(keys.ids, 0, `${ids[2]}\0user:al`, 0, `${ids[1]}\0user:al`);
    const call = { set: keys.ids, idIs: "first", shown: [{ from: "-", to: "+" }] } as const;
    const reply = await scripts().ranges({ ...call, keys, offset: 0, limit: 5, descending: false, counted: [] });
    expect(reply).toMatchObject({ ids: [1, 2].map(idOf) });
  });

  it("refuses a version that is no longer in force", async () => {
    expect(await read({ version: "v0" })).toBe("stale");
  });

  it("fails on a set of a wrong type", async () => {
    await bench.client.set(keys.index(1), "foreign");
    await expect(read({ counted: [all] })).rejects.toMatchObject({ name: "RedisFault" });
  });
});

describe("count-values", () => {
  const count = (version: string, max: number) => {
    const ranges = [
      { from: "[30", to: "(32" },
      { from: "[34", to: "+" },
    ];
    return scripts().values({ keys, set: keys.index(1), version, idIs: "last", ranges, max });
  };

  it("counts the members of each value in the ranges", async () => {
    await bench.client.zadd(keys.index(1), 0, `34\0${ids[0]}`, 0, `34\u0001\u0001\0${ids[1]}`);
    const found = await count("v1", 20);
    const values = Array.isArray(found) ? found : [];
    expect(Object.fromEntries(values.map(({ value, count: members }) => [value, members]))).toMatchObject({
      "34": 2,
      "34\u0001\u0001": 1,
    });
    expect(values.map(({ value }) => value)).not.toContain("33");
    expect(await count("v1", values.length)).toEqual(found);
    expect(await count("v1", values.length - 1)).toBe("too_many");
  });

  it("refuses a version that is no longer in force", async () => {
    expect(await count("v0", 20)).toBe("stale");
  });
});

describe("read-members", () => {
  const ask = (version: string, max: number) =>
    scripts().members({
      keys,
      version,
      idIs: "last",
      max,
      sets: [
        {
          set: keys.index(1),
          ranges: [
            { from: "[30", to: "(32" },
            { from: "[34", to: "(35" },
          ],
        },
        { set: keys.index(1), ranges: [] },
        { set: keys.index(1), ranges: [{ from: "[35", to: "(36" }] },
      ],
    });

  it("answers the members of all ranges of all sets", async () => {
    const members = await ask("v1", 4);
    expect(Array.isArray(members) && members.map((member) => idIn(member, "last"))).toEqual([0, 1, 4, 5].map(idOf));
  });

  it("says when there are more than are wanted, and when the version is no longer in force", async () => {
    expect(await ask("v1", 3)).toBe("too_many");
    expect(await ask("v0", 3)).toBe("stale");
  });
});
