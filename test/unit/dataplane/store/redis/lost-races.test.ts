// What the store on Redis says of a call that loses against others again and again: it is a
// conflict, since Redis answers all along.

import { expect, it } from "vitest";
import { WriteConflict } from "../../../../../core/errors/store-errors.ts";
import { createIndexSetCache } from "../../../../../dataplane/store/redis/indexes/index-scripts.ts";
import { collectionKeys } from "../../../../../dataplane/store/redis/keys.ts";
import { withIndex } from "../../../../../dataplane/store/redis/lists/pages.ts";
import type { BatchedCreates } from "../../../../../dataplane/store/redis/objects/batched-creates.ts";
import type { BatchedReads } from "../../../../../dataplane/store/redis/objects/batched-reads.ts";
import type { ObjectScripts } from "../../../../../dataplane/store/redis/objects/object-scripts.ts";
import { createObjects } from "../../../../../dataplane/store/redis/objects/objects.ts";
import { code } from "../../../../../dataplane/store/redis/store-script.ts";
import { manualClock } from "../../../../support/time/manual-clock.ts";

const collection = { project: { namespace: "ns", name: "shop" }, resource: "books" };
const ready = { name: "a", path: ["a"], slot: 1, state: "ready", encoding: 1 } as const;

function indexSetCache() {
  let loads = 0;
  const cache = createIndexSetCache({
    async load() {
      loads += 1;
      const owners = { areKept: true, revision: 1, cursor: undefined };
      const set = { version: String(loads), revision: 1, nextIndexNumber: 2, cursor: "", indexes: [ready] };
      return { ...set, id: "", owners, minRevision: 0 };
    },
  });
  return { cache, loads: () => loads };
}

it("an object that others keep changing is not removed", async () => {
  const clock = manualClock();
  let tries = 0;
  const scripts = {
    read: async () => ({ text: `{"id":"1","n":${tries}}`, owner: "user:a" }),
    async remove() {
      tries += 1;
      clock.advance(900);
      return code.conflict;
    },
  } as unknown as ObjectScripts;
  const { cache } = indexSetCache();
  const [batchedReads, batchedCreates] = [{} as BatchedReads, {} as BatchedCreates];
  const objects = createObjects({ batchedReads, batchedCreates, scripts, indexSetCache: cache, clock });
  await expect(objects.remove(collection, "1", {})).rejects.toBeInstanceOf(WriteConflict);
  expect(tries).toBe(3);
});

it("a write is refused when the indexes were declared anew before each of its attempts", async () => {
  const { cache, loads } = indexSetCache();
  const attempt = async () => "stale" as const;
  await expect(cache.retryWhileStale(collectionKeys(collection), attempt)).rejects.toBeInstanceOf(WriteConflict);
  expect(loads()).toBe(25);
});

it("a read takes an index that is declared anew all the time for one that is not ready", async () => {
  const { cache } = indexSetCache();
  const index = { index: "a", owner: undefined };
  expect(await withIndex(cache, collectionKeys(collection), index, async () => "stale")).toBeUndefined();
});
