// What the store on Redis makes of a script's reply that its header rules out: a defect, and never
// an empty list.

import { expect, it } from "vitest";
import { RedisFault } from "../../../../../core/redis/failure.ts";
import type { RedisClient } from "../../../../../core/redis/redis-client.ts";
import type { IndexSetCache } from "../../../../../dataplane/store/redis/indexes/index-scripts.ts";
import { createKeysetPages } from "../../../../../dataplane/store/redis/lists/keyset-pages.ts";
import { createPages } from "../../../../../dataplane/store/redis/lists/pages.ts";
import { createRangeScripts } from "../../../../../dataplane/store/redis/lists/ranges.ts";
import { createBatchedReads } from "../../../../../dataplane/store/redis/objects/batched-reads.ts";
import { createObjectScripts } from "../../../../../dataplane/store/redis/objects/object-scripts.ts";
import { code } from "../../../../../dataplane/store/redis/store-script.ts";

const collection = { project: { namespace: "ns", name: "shop" }, resource: "books" };
const range = { offset: 0, limit: 10, descending: false, counted: true };

function listsWhere(...replies: readonly unknown[]) {
  let calls = 0;
  const redisClient = { run: async () => replies[Math.min(calls++, replies.length - 1)] } as unknown as RedisClient;
  const scripts = createObjectScripts(redisClient);
  const parts = {
    redisClient,
    batchedReads: createBatchedReads(redisClient),
    scripts,
    listReads: () => ({ page: scripts.page, ...createRangeScripts(redisClient) }),
    indexSetCache: {} as IndexSetCache,
  };
  return { ...createPages(parts), ...createKeysetPages(parts) };
}

it("a page of all objects by creation, which no index can make stale", async () => {
  const lists = listsWhere([code.stale_index_set]);
  for (const page of [
    () => lists.pageByCreation(collection, {}, range),
    () => lists.pageAfter(collection, {}, undefined, range),
  ]) {
    const failure = await page().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RedisFault);
    expect(failure).toMatchObject({ code: "REPLY", message: expect.stringContaining("without a version") });
  }
});

it("a reading that got no further: the rest of the page would be asked for without end", async () => {
  const readAll = async () => {
    for await (const _batch of listsWhere([code.done, []]).readObjects(collection, ["1"]));
  };
  await expect(readAll()).rejects.toBeInstanceOf(RedisFault);
  const page = listsWhere([code.done, 3, ["1", "2", "3"]], [code.done, []]).pageByCreation(collection, {}, range);
  await expect(page).rejects.toBeInstanceOf(RedisFault);
});
