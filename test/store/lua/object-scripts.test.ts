// The scripts that read and write objects: what each one answers, and every key that it leaves.

import { describe, expect, it } from "vitest";
import type { StoredIndex } from "../../../dataplane/store/redis/indexes/index-set.ts";
import { collectionKeys } from "../../../dataplane/store/redis/keys.ts";
import { createObjectScripts } from "../../../dataplane/store/redis/objects/object-scripts.ts";
import { sha1 } from "../../../dataplane/store/redis/objects/objects.ts";
import { code, neverStale } from "../../../dataplane/store/redis/store-script.ts";
import { useScriptBench } from "../../support/redis/script-bench.ts";

const keys = collectionKeys({ project: { namespace: "ns", name: "shop" }, resource: "books" });
const base = "jp:{ns/shop/books}:";
const index: StoredIndex = { slot: 1, encoding: 1, name: "a", path: ["a"], state: "ready" };
const owner = "user:al";
const bench = useScriptBench();
const scripts = () => createObjectScripts(bench.redisClient);
const scanAfter = async (after: string) => neverStale(await scripts().scan({ keys, set: keys.ids, after }));

function newObject(id: string, text: string, value = "3x", version = "") {
  return { keys, version, maxObjects: 10, id, owner, text, entries: [{ index, value }], keepsOwners: true };
}

function create(id = "id1", text = '{"a":1}'): Promise<unknown> {
  return scripts().create(newObject(id, text));
}

/** The keys of one object with index 1. */
function stored(id: string, text: string, value: string): Record<string, string> {
  return {
    [`${base}doc:${id}`]: text,
    [`${base}ids`]: `${id}␀${owner}`,
    [`${base}index:1`]: `${value}␀${id}`,
    [`${base}own-index:1`]: `${owner}␀${value}␀${id}`,
    [`${base}owned:${owner}`]: id,
  };
}

describe("create-object", () => {
  it("stores the object, its id, its owner's id and both index entries", async () => {
    expect(await create()).toBe(code.done);
    expect(await bench.contents()).toEqual(stored("id1", '{"a":1}', "3x"));
  });

  it("refuses above the quota, a taken id and a stale index set, and leaves nothing of them", async () => {
    await create();
    const before = await bench.contents();
    expect(await scripts().create({ ...newObject("id2", "{}"), maxObjects: 1 })).toBe(code.quota_exceeded);
    expect(await create("id1", '{"other":1}')).toBe(code.conflict);
    expect(await scripts().create({ ...newObject("id2", "{}"), version: "v1" })).toBe(code.stale_index_set);
    await bench.client.hset(keys.indexSet, "version", "v2");
    expect(await scripts().create({ ...newObject("id2", "{}"), version: "v1" })).toBe(code.stale_index_set);
    expect(await scripts().create(newObject("id2", "{}"))).toBe(code.stale_index_set);
    await bench.client.del(keys.indexSet);
    expect(await bench.contents()).toEqual(before);
  });

  it("fails on an object's or the ids' key of a wrong type, and leaves nothing", async () => {
    for (const key of [keys.objectKey("id1"), keys.ids]) {
      await bench.client.flushall();
      await bench.client.set(key, "foreign");
      await expect(create()).rejects.toMatchObject({ name: "RedisFault" });
      expect(await bench.contents()).toEqual({ [key]: "foreign" });
    }
  });
});

describe("replace-object", () => {
  const replace = (previous: string, text: string, version = "") =>
    scripts().replace({
      keys,
      version,
      previous: sha1(previous),
      id: "id1",
      owner,
      text,
      moves: [{ index, before: "3x", after: "3y" }],
      keepsOwners: true,
    });

  it("puts the new text and moves both index entries", async () => {
    await create();
    expect(await replace('{"a":1}', '{"a":2}')).toBe(code.done);
    expect(await bench.contents()).toEqual(stored("id1", '{"a":2}', "3y"));
  });

  it("writes an entry that stays the same, for an index that is being built", async () => {
    await scripts().create({ ...newObject("id1", '{"a":1}'), entries: [] });
    const moves = [{ index, before: "3x", after: "3x" }];
    const call = { keys, version: "", id: "id1", owner, text: '{"a":1,"b":2}', moves, keepsOwners: true };
    expect(await scripts().replace({ ...call, previous: sha1('{"a":1}') })).toBe(code.done);
    expect(await bench.contents()).toEqual(stored("id1", '{"a":1,"b":2}', "3x"));
  });

  it("refuses a missing object, another text and a stale index set, and changes nothing", async () => {
    expect(await replace('{"a":1}', "{}")).toBe(code.not_found);
    expect(await bench.contents()).toEqual({});
    await create();
    expect(await replace('{"a":1.0}', "{}")).toBe(code.conflict);
    expect(await replace('{"a":1}', "{}", "v1")).toBe(code.stale_index_set);
    expect(await bench.contents()).toEqual(stored("id1", '{"a":1}', "3x"));
  });

  it("fails on a key of a wrong type and leaves it", async () => {
    await bench.client.set(keys.objectKey("id1"), "foreign");
    await expect(replace("foreign", "{}")).rejects.toMatchObject({ name: "RedisFault" });
    expect(await bench.contents()).toEqual({ [keys.objectKey("id1")]: "foreign" });
  });
});

describe("remove-object", () => {
  const remove = (previous: string, version = "") =>
    scripts().remove({
      ...{ keys, version, previous: sha1(previous), id: "id1", owner },
      entries: [{ index, value: "3x" }],
      keepsOwners: true,
    });

  it("leaves no key behind", async () => {
    await create();
    expect(await remove('{"a":1}')).toBe(code.done);
    expect(await bench.contents()).toEqual({});
  });

  it("refuses a missing object, another text and a stale index set, and changes nothing", async () => {
    expect(await remove('{"a":1}')).toBe(code.not_found);
    await create();
    expect(await remove("{}")).toBe(code.conflict);
    expect(await remove('{"a":1}', "v1")).toBe(code.stale_index_set);
    expect(await bench.contents()).toEqual(stored("id1", '{"a":1}', "3x"));
  });
});

describe("read-object", () => {
  it("gives the text and the owner, of any owner or of the one that is named", async () => {
    await create();
    const found = { text: '{"a":1}', owner };
    expect(await scripts().read(keys, "id1")).toEqual(found);
    expect(await scripts().read(keys, "id1", owner)).toEqual(found);
  });

  it("finds no foreign object, no missing one, and none whose id only begins alike", async () => {
    await create();
    expect(await scripts().read(keys, "id1", "user:a")).toBeUndefined();
    expect(await scripts().read(keys, "id", owner)).toBeUndefined();
    expect(await scripts().read(keys, "id")).toBeUndefined();
    expect(await scripts().read(keys, "id11")).toBeUndefined();
    await bench.client.del(keys.objectKey("id1"));
    expect(await scripts().read(keys, "id1")).toBeUndefined();
  });
});

describe("read-page", () => {
  const page = { keys, set: keys.ids, idIs: "first", offset: 0, limit: 10, descending: false } as const;

  it("counts all and finds the ids of a part, in both directions", async () => {
    const ids = ["id1", "id2", "id3"];
    for (const id of ids) await create(id);
    expect(await scripts().page(page)).toEqual({ count: 3, ids });
    expect(await scripts().page({ ...page, descending: true })).toEqual({ count: 3, ids: ids.toReversed() });
    expect(await scripts().page({ ...page, offset: 1, limit: 1 })).toEqual({ count: 3, ids: ["id2"] });
    expect(await scripts().page({ ...page, offset: 3 })).toEqual({ count: 3, ids: [] });
  });

  it("finds the id behind a value of any length, of the form of a UUID or another", async () => {
    const uuid = "0199b1c0-0000-7000-8000-000000000001";
    await scripts().create(newObject("id1", '{"n":1}', `4${"x".repeat(1_000)}`));
    await scripts().create(newObject(uuid, '{"n":2}', "4y"));
    const call = { ...page, set: keys.index(1), idIs: "last", version: "" } as const;
    expect(await scripts().page(call)).toMatchObject({ ids: ["id1", uuid] });
  });

  it("answers stale for an index of another index set", async () => {
    await bench.client.hset(keys.indexSet, "version", "v2");
    expect(await scripts().page({ ...page, version: "v1" })).toBe("stale");
    expect(await scripts().page({ ...page, version: "" })).toBe("stale");
    expect(await scripts().page({ ...page, version: "v2" })).toEqual({ count: 0, ids: [] });
    expect(await scripts().page(page)).toEqual({ count: 0, ids: [] });
  });
});

describe("a script that reads objects", () => {
  /** Keys that were found meanwhile, by Redis' own count: objects, and a few sorted sets. */
  async function foundBy<T>(call: () => Promise<T>): Promise<{ readonly found: number; readonly reply: T }> {
    const hits = async () => Number(/keyspace_hits:(\d+)/.exec(await bench.client.info("stats"))?.[1]);
    const before = await hits();
    const reply = await call();
    return { found: (await hits()) - before, reply };
  }
  const ids = Array.from({ length: 60 }, (_, n) => `id${n + 100}`);

  it.each([
    ["read-objects", () => scripts().readMany(keys, ids)],
    ["scan-objects", async () => (await scanAfter("")).texts],
  ] as const)(
    "reads no more large ones than it has room for, however small those before them are: %s",
    async (_, read) => {
      for (const [n, id] of ids.entries()) {
        const text = JSON.stringify("x".repeat(n < 40 ? 10 : 300_000));
        expect(await scripts().create({ ...newObject(id, text), maxObjects: 100 })).toBe(code.done);
      }
      const { found, reply } = await foundBy<readonly unknown[]>(read);
      expect(reply).toHaveLength(43);
      expect(found).toBeLessThanOrEqual(43 + 3);
    },
  );
});

describe("read-objects and scan-objects", () => {
  it("stop before 1 MiB", async () => {
    const text = JSON.stringify("x".repeat(250 * 1024));
    for (const n of [1, 2, 3, 4, 5, 6]) await scripts().create(newObject(`id${n}`, text));
    const texts = await scripts().readMany(
      keys,
      [1, 2, 3, 4, 5, 6].map((n) => `id${n}`),
    );
    expect(texts.length).toBe(4);
    const scanned = await scanAfter("");
    expect([scanned.texts.length, scanned.after]).toEqual([4, "id4"]);
  });

  it("say which objects are gone, and read at least one", async () => {
    const large = JSON.stringify("x".repeat(2 * 1024 * 1024));
    await create("id1", large);
    await create("id2", "2");
    await bench.client.set("unrelated", "1");
    expect(await scripts().readMany(keys, ["gone", "id1", "id2"])).toEqual([undefined, large]);
    expect(await scripts().readMany(keys, ["id2", "gone"])).toEqual(["2", undefined]);
  });

  it("scan on after the member that they are given, to the end", async () => {
    await bench.client.zadd(keys.ids, ...Array.from({ length: 300 }, (_, n) => [0, `id${n + 100}\0${owner}`]).flat());
    for (let n = 100; n < 400; n += 1) await bench.client.call("JSON.SET", keys.objectKey(`id${n}`), "$", String(n));
    const first = await scanAfter("");
    expect([first.texts[0], first.texts.length, first.after]).toEqual(["100", 250, "id349"]);
    const second = await scanAfter(first.after ?? "");
    expect([second.texts[0], second.texts.length, second.after]).toEqual(["350", 50, undefined]);
  });
});
