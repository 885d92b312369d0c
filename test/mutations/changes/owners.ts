// Faults of what Redis keeps for lists of one's own: trusted too early, not written, or left behind.

import type { Mutation } from "../mutation.ts";

const redisOwners = "test/store/redis-owners.test.ts";
const indexScripts = "test/store/lua/index-scripts.test.ts";

export const ownersMutations: readonly Mutation[] = [
  {
    name: "owners-entries-trusted-before-all-are-there",
    harm: "Once a resource shows each caller its own objects, lists leave most of them out until the entries are added",
    file: "dataplane/store/redis/indexes/index-set.ts",
    find: "return owners.areKept && owners.cursor === undefined;",
    replace: "return owners.areKept;",
    caughtBy: [redisOwners],
  },
  {
    name: "owners-entries-read-though-none-are-kept",
    harm: "A caller's list shows nothing",
    file: "dataplane/store/redis/indexes/index-set.ts",
    find: "return owners.areKept && owners.cursor === undefined;",
    replace: "return owners.cursor === undefined;",
    caughtBy: [redisOwners],
  },
  {
    name: "owners-ids-read-without-a-version",
    harm: "A replica that has not heard that owners' entries are no longer kept goes on reading them: lists leave objects out",
    file: "dataplane/store/redis/lists/pages.ts",
    find: "(hasAllOwners(set) ? { set: keys.owned(owner), version: set.version } : undefined)",
    replace: "(hasAllOwners(set) ? { set: keys.owned(owner) } : undefined)",
    caughtBy: [redisOwners],
  },
  {
    name: "owners-entries-not-asked-for",
    harm: "A resource that shows each caller its own objects refuses lists once it has more than 10,000",
    file: "dataplane/objects/prepare-collection.ts",
    find: `listsOwn(config) ? "kept" : "left out"`,
    replace: `"left out"`,
    caughtBy: ["test/http/redis-round-trips.test.ts"],
  },
  {
    name: "owners-entries-always-asked-for",
    harm: "Every write costs Redis twice what it has to, in time and memory",
    file: "dataplane/objects/prepare-collection.ts",
    find: `listsOwn(config) ? "kept" : "left out"`,
    replace: `"kept"`,
    caughtBy: ["test/http/redis-round-trips.test.ts"],
  },
  {
    name: "created-without-its-owners-entry",
    harm: "A caller's own list, sorted or filtered, leaves out what was created since",
    file: "dataplane/store/redis/objects/create-objects-n.lua",
    find: `        add(index_at + 1, owner .. "\\0" .. entry)\n`,
    replace: "",
    caughtBy: [redisOwners],
  },
  {
    name: "owners-walk-passes-what-changed-since",
    harm: "A caller's own list leaves out an object that was changed while the entries were added",
    file: "dataplane/store/redis/indexes/add-owners-n.lua",
    find: "  if not is_same then\n    break\n  end\n  reached = member\n  if text then\n",
    replace: "  reached = member\n  if text and is_same then\n",
    caughtBy: [indexScripts],
  },
  {
    name: "owners-old-entries-added-to",
    harm: "A caller's own list counts removed objects, and finds others by values that they no longer have",
    file: "dataplane/store/redis/indexes/index-set.ts",
    find: "droppedForOwners: isSameForOwners || keepsOwners ? [] : indexes,",
    replace: "droppedForOwners: [],",
    caughtBy: [redisOwners],
  },
  {
    name: "owners-ids-left-behind",
    harm: "The names of owners and a quarter of what Redis kept for lists of one's own stay for good",
    file: "dataplane/store/redis/indexes/drop-owners-n.lua",
    find: `  redis.call("UNLINK", KEYS[at])\n`,
    replace: "",
    caughtBy: [redisOwners, indexScripts],
  },
  {
    name: "owners-walk-forgotten-behind-that-of-indexes",
    harm: "A changed resource refuses lists of one's own for good: its entries are begun and never ended",
    file: "dataplane/store/redis/indexes/add-entries-n.lua",
    find: `if redis.call("HEXISTS", index_set, "owners_cursor") == 1 then`,
    replace: "if false then",
    caughtBy: [redisOwners],
  },
];
