// The scripts that declare and build indexes: what each one answers, and every key that it leaves.

import { describe, expect, it } from "vitest";
import { createIndexScripts } from "../../../dataplane/store/redis/indexes/index-scripts.ts";
import {
  allReady,
  type IndexSet,
  nextIndexSet,
  type StatedIndexes,
  type StoredIndex,
} from "../../../dataplane/store/redis/indexes/index-set.ts";
import { collectionKeys } from "../../../dataplane/store/redis/keys.ts";
import { createObjectScripts } from "../../../dataplane/store/redis/objects/object-scripts.ts";
import { sha1 } from "../../../dataplane/store/redis/objects/objects.ts";
import { useScriptBench } from "../../support/redis/script-bench.ts";

const keys = collectionKeys({ project: { namespace: "ns", name: "shop" }, resource: "books" });
const bench = useScriptBench();
const scripts = () => createIndexScripts(bench.redisClient);
const none: IndexSet = {
  ...{ version: "", revision: 0, nextIndexNumber: 1, indexes: [], cursor: undefined, id: undefined },
  owners: { areKept: true, cursor: undefined },
  minRevision: 0,
};
const a = { name: "a", path: ["a"] };
const b = { name: "b", path: ["b"] };
const owner = "user:al";

function follow(set: IndexSet, fields: readonly { name: string; path: string[] }[], newVersion = "v1") {
  return scripts().declare({
    keys,
    version: set.version,
    newVersion,
    revision: 7,
    declaration: nextIndexSet(set, fields),
  });
}

async function createObject(id: string, text: string, version = ""): Promise<void> {
  const call = { keys, version, maxObjects: 10, id, owner, text, entries: [], keepsOwners: true };
  expect(await createObjectScripts(bench.redisClient).create(call)).toBe(0);
}

function begin(token = "me", maxObjects = 100) {
  return scripts().beginBuild({ keys, token, lockMilliseconds: 60_000, maxObjects, maxBytes: 1_000_000 });
}

function states(stated: StatedIndexes | "stale"): readonly string[] {
  return stated === "stale" ? ["stale"] : stated.indexes.map(({ name, slot, state }) => `${name}${slot} ${state}`);
}

describe("declare-indexes", () => {
  it("makes indexes of an empty collection ready at once", async () => {
    expect(states(await follow(none, [a, b]))).toEqual(["a1 ready", "b2 ready"]);
    expect(await scripts().load(keys)).toMatchObject({
      version: "v1",
      revision: 7,
      nextIndexNumber: 3,
      cursor: undefined,
    });
  });

  it("lets new indexes of a collection with objects be built from the start", async () => {
    await createObject("id1", '{"a":1}');
    expect(states(await follow(none, [a]))).toEqual(["a1 building"]);
    expect(await scripts().load(keys)).toMatchObject({ version: "v1", cursor: "" });
  });

  it("forgets the entries of dropped indexes, and gives a field that comes back another place", async () => {
    await follow(none, [a, b]);
    for (const key of [keys.index(1), keys.ownIndex(1), keys.index(2)]) await bench.client.zadd(key, 0, "entry");
    const set = await scripts().load(keys);
    expect(states(await follow(set, [b], "v2"))).toEqual(["b2 ready"]);
    expect(Object.keys(await bench.contents())).toEqual([keys.index(2), keys.indexSet]);
    expect(states(await follow(await scripts().load(keys), [a, b], "v3"))).toEqual(["a3 ready", "b2 ready"]);
  });

  it("refuses to follow a set that is no longer there, and changes nothing", async () => {
    await follow(none, [a]);
    const before = await bench.contents();
    expect(await follow(none, [b], "v2")).toBe("stale");
    expect(await bench.contents()).toEqual(before);
  });

  it("keeps the place where building goes on when nothing new is declared", async () => {
    await createObject("id1", "{}");
    await follow(none, [a, b]);
    await bench.client.hset(keys.indexSet, "cursor", "id1\0user:al");
    await follow(await scripts().load(keys), [b], "v2");
    expect(await scripts().load(keys)).toMatchObject({ cursor: "id1\0user:al", version: "v2" });
  });
});

describe("begin-build and add-entries", () => {
  async function building(): Promise<readonly StoredIndex[]> {
    for (const id of ["id1", "id2", "id3"]) await createObject(id, `{"a":"${id}"}`);
    return ((await follow(none, [a])) as StatedIndexes).indexes;
  }

  function add(
    indexes: readonly StoredIndex[],
    ids: readonly string[],
    more: { readonly token?: string; readonly isLast?: boolean } = {},
  ) {
    return scripts().addEntries({
      keys,
      token: more.token ?? "me",
      version: "v1",
      building: indexes,
      keepsOwners: true,
      objects: ids.map((id) => ({
        member: `${id}\0${owner}`,
        hash: sha1(`{"a":"${id}"}`),
        id,
        owner,
        values: [`4${id}`],
      })),
      cursor: `${ids.at(-1)}\0${owner}`,
      built: more.isLast ? allReady(indexes) : undefined,
    });
  }

  it("answer done when nothing is building", async () => {
    expect(await begin()).toEqual({ outcome: "done" });
    await follow(none, [a]);
    expect(await begin()).toEqual({ outcome: "done" });
    expect(await bench.client.exists(keys.buildLock)).toBe(0);
  });

  it("read on after what was added, and make the indexes ready with the last batch", async () => {
    const indexes = await building();
    const first = await begin("me", 2);
    expect(first).toMatchObject({ outcome: "more", version: "v1", isLast: false });
    expect(first.outcome === "more" && first.objects.map(({ text }) => text)).toEqual(['{"a":"id1"}', '{"a":"id2"}']);
    expect(await add(indexes, ["id1", "id2"])).toBe("more");
    const second = await begin("me", 2);
    expect(second).toMatchObject({ outcome: "more", isLast: true, objects: [{ text: '{"a":"id3"}' }] });
    expect(await add(indexes, ["id3"], { isLast: true })).toBe("done");
    expect((await scripts().load(keys)).indexes.map(({ state }) => state)).toEqual(["ready"]);
    expect(await bench.client.exists(keys.buildLock)).toBe(0);
    expect(await bench.client.zrange(keys.index(1), "0", "-1")).toEqual(["4id1\0id1", "4id2\0id2", "4id3\0id3"]);
    expect(await bench.client.zcard(keys.ownIndex(1))).toBe(3);
  });

  it("answer busy to another replica while the lock holds, and to a holder who lost it", async () => {
    const indexes = await building();
    await begin("me");
    expect(await begin("other")).toEqual({ outcome: "busy" });
    await bench.client.set(keys.buildLock, "other");
    expect(await add(indexes, ["id1"])).toBe("busy");
    await bench.client.del(keys.buildLock);
    expect(await add(indexes, ["id1"])).toBe("busy");
    expect(await bench.client.exists(keys.index(1))).toBe(0);
    expect(await begin("other")).toMatchObject({ outcome: "more" });
  });

  it("let the lock go by itself when its holder is gone", async () => {
    await building();
    await begin("me");
    const left = await bench.client.pttl(keys.buildLock);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(60_000);
  });

  it("leave out objects that were changed or removed since they were read", async () => {
    const indexes = await building();
    await begin();
    await bench.client.call("JSON.SET", keys.objectKey("id1"), "$", '{"a":"new"}');
    await bench.client.del(keys.objectKey("id2"));
    expect(await add(indexes, ["id1", "id2", "id3"])).toBe("more");
    expect(await bench.client.zrange(keys.index(1), "0", "-1")).toEqual(["4id3\0id3"]);
    expect(await bench.client.zrange(keys.ownIndex(1), "0", "-1")).toEqual([`${owner}\x004id3\0id3`]);
  });

  it("refuse a batch that was computed for another index set", async () => {
    const indexes = await building();
    await begin();
    await follow(await scripts().load(keys), [a, b], "v2");
    expect(await add(indexes, ["id1"], { isLast: true })).toBe("stale");
    expect(await bench.client.exists(keys.index(1))).toBe(0);
    expect((await scripts().load(keys)).cursor).toBe("");
  });

  it("add owners' entries of objects that are still what was read, and stop at one that was changed", async () => {
    const indexes = await building();
    await declareOwners(false, "v2");
    await declareOwners(true, "v3");
    await bench.client.hdel(keys.indexSet, "cursor");
    expect(await begin()).toMatchObject({ outcome: "more", walk: "owners", keepsOwners: true, isLast: true });
    await bench.client.del(keys.owned(owner), keys.objectKey("id1"));
    await bench.client.call("JSON.SET", keys.objectKey("id3"), "$", '{"a":"new"}');
    const add = (ids: readonly string[], texts = ids.map((id) => `{"a":"${id}"}`)) =>
      scripts().addOwners({
        ...{ keys, token: "me", version: "v3", indexes, isLast: true },
        objects: ids.map((id, at) => ({
          ...{ member: `${id}\0${owner}`, hash: sha1(texts[at] ?? ""), id, owner },
          values: [`4${id}`],
        })),
      });
    expect(await add(["id1", "id2", "id3"])).toBe("more");
    expect(await bench.client.zrange(keys.owned(owner), "0", "-1")).toEqual(["id2"]);
    expect(await bench.client.zrange(keys.ownIndex(1), "0", "-1")).toEqual([`${owner}\x004id2\0id2`]);
    expect((await scripts().load(keys)).owners).toMatchObject({ areKept: true, cursor: `id2\0${owner}` });
    expect(await begin()).toMatchObject({ objects: [{ text: '{"a":"new"}' }] });
    expect(await add(["id3"], ['{"a":"new"}'])).toBe("done");
    expect((await scripts().load(keys)).owners).toMatchObject({ areKept: true, cursor: undefined });
    expect(await bench.client.exists(keys.buildLock)).toBe(0);
  });

  it("remove owners' ids without reading objects, and refuse another lock and another set", async () => {
    await building();
    await declareOwners(false, "v2");
    await bench.client.hdel(keys.indexSet, "cursor");
    const drop = (more: { readonly token?: string; readonly version?: string; readonly cursor?: string }) =>
      scripts().dropOwners({ keys, token: "me", version: "v2", owners: [owner], cursor: undefined, ...more });
    const texts = ["", "", ""].map((text) => ({ text }));
    expect(await begin()).toMatchObject({ walk: "owners", keepsOwners: false, objects: texts });
    expect(await drop({ token: "other" })).toBe("busy");
    expect(await drop({ version: "v1" })).toBe("stale");
    expect(await bench.client.exists(keys.owned(owner))).toBe(1);
    expect(await drop({ cursor: `id2\0${owner}` })).toBe("more");
    expect(await bench.client.exists(keys.owned(owner))).toBe(0);
    expect(await begin()).toMatchObject({ outcome: "more", objects: [{ member: `id3\0${owner}` }] });
    expect(await drop({})).toBe("done");
    expect(await begin()).toEqual({ outcome: "done" });
  });

  async function declareOwners(keepsOwners: boolean, newVersion: string): Promise<void> {
    const set = await scripts().load(keys);
    const declaration = nextIndexSet(set, [a], keepsOwners);
    await scripts().declare({ keys, version: set.version, newVersion, revision: 8, declaration });
  }

  it("stop at the given bytes, and name members without an object", async () => {
    await building();
    await bench.client.del(keys.objectKey("id1"));
    const call = { keys, token: "me", lockMilliseconds: 1_000, maxObjects: 10, maxBytes: 12 };
    expect(await scripts().beginBuild(call)).toMatchObject({
      isLast: false,
      objects: [{ text: "" }, { member: `id2\0${owner}`, text: '{"a":"id2"}' }],
    });
  });
});
