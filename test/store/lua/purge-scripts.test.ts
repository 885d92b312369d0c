// The scripts that name and purge what a collection or a root key holds: what each one answers, and
// every key that it leaves.

import { describe, expect, it } from "vitest";
import { collectionKeys, documentKeys } from "../../../dataplane/store/redis/keys.ts";
import { createObjectScripts } from "../../../dataplane/store/redis/objects/object-scripts.ts";
import { createPurgeScripts } from "../../../dataplane/store/redis/purges/purges.ts";
import { createDocumentScripts } from "../../../dataplane/store/redis/values/document-scripts.ts";
import { useScriptBench } from "../../support/redis/script-bench.ts";

const project = { namespace: "ns", name: "shop" };
const keys = collectionKeys({ project, resource: "books" });
const flags = documentKeys({ project, rootKey: "flags" });
const owner = "user:al";
const bench = useScriptBench();
const scripts = () => createPurgeScripts(bench.redisClient);
const object = (id: string) => ({ member: `${id}\0${owner}`, id, owner });

async function createObject(id: string): Promise<void> {
  const call = { keys, version: "", maxObjects: 10, id, owner, text: "{}", entries: [], keepsOwners: true };
  expect(await createObjectScripts(bench.redisClient).create(call)).toBe(0);
}

describe("identify-collection", () => {
  it("names what holds anything, once", async () => {
    expect(await scripts().identifyCollection(keys)).toBeUndefined();
    expect(await bench.contents()).toEqual({});
    await createObject("id1");
    const name = await scripts().identifyCollection(keys);
    expect(name).toMatch(/^[0-9a-f]{16}$/);
    expect(await scripts().identifyCollection(keys)).toBe(name);
    expect(await bench.client.hgetall(keys.indexSet)).toEqual({ id: name });
  });

  it("names a collection that has indexes and no object", async () => {
    await bench.client.hset(keys.indexSet, "version", "v1");
    expect(await scripts().identifyCollection(keys)).toBeDefined();
  });
});

describe("purge-objects", () => {
  it("removes the objects it is given, and everything else with the last one", async () => {
    for (const id of ["id1", "id2"]) await createObject(id);
    await bench.client.hset(keys.indexSet, "version", "v1");
    const name = (await scripts().identifyCollection(keys)) ?? "";
    expect(await scripts().purgeObjects(keys, name, [object("id1")])).toBe("more");
    expect(Object.keys(await bench.contents())).toEqual([
      keys.objectKey("id2"),
      keys.ids,
      keys.indexSet,
      keys.owned(owner),
    ]);
    expect(await scripts().purgeObjects(keys, name, [object("id2")])).toBe("done");
    expect(await bench.contents()).toEqual({});
    expect(await scripts().purgeObjects(keys, name, [])).toBe("gone");
  });

  it("removes nothing of a collection that has another name, or none", async () => {
    await createObject("id1");
    const before = await bench.contents();
    expect(await scripts().purgeObjects(keys, "another", [object("id1")])).toBe("gone");
    expect(await scripts().purgeObjects(keys, "", [object("id1")])).toBe("gone");
    expect(await bench.contents()).toEqual(before);
  });
});

describe("identify-document and purge-document", () => {
  const initialise = () => createDocumentScripts(bench.redisClient).initialise(flags, "{}");

  it("name a document, and remove it while it has that name", async () => {
    expect(await scripts().identifyDocument(flags)).toBeUndefined();
    expect(await bench.contents()).toEqual({});
    await initialise();
    const name = (await scripts().identifyDocument(flags)) ?? "";
    expect(await scripts().identifyDocument(flags)).toBe(name);
    expect(await scripts().purgeDocument(flags, "another")).toBe("gone");
    expect(await bench.client.exists(flags.value)).toBe(1);
    expect(await scripts().purgeDocument(flags, name)).toBe("done");
    expect(await bench.contents()).toEqual({});
  });

  it("remove nothing that was not named", async () => {
    await initialise();
    const name = (await scripts().identifyDocument(flags)) ?? "";
    await bench.client.del(flags.identity);
    expect(await scripts().purgeDocument(flags, name)).toBe("gone");
    expect(await bench.client.exists(flags.value)).toBe(1);
  });
});
