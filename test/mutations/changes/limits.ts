// Faults of what is bounded: sizes, rates, the time that they go by, and what one project may take of the others' time.

import type { Mutation } from "../mutation.ts";

const scripts = "dataplane/store/redis/scripts";
const redisStore = "test/store/redis-store.test.ts";

export const limitMutations: readonly Mutation[] = [
  {
    name: "object-grows-by-put",
    harm: "Thirty PUTs of new fields make an object of 30 MB, whose list nobody can read any more",
    file: "dataplane/objects/validate-object.ts",
    find: "requireStorable(rules, merged, data);",
    replace: "requireStorable({ ...rules, maxBytes: 1e9 }, merged, data);",
    caughtBy: ["test/http/object-size.test.ts"],
  },
  {
    name: "object-grows-by-patch",
    harm: "An object grows by patches until its list can't be read any more",
    file: "dataplane/objects/validate-object.ts",
    find: "requireStorable(rules, changed, data);",
    replace: "requireStorable({ ...rules, maxBytes: 1e9 }, changed, data);",
    caughtBy: ["test/http/object-size.test.ts"],
  },
  {
    name: "list-bounded-by-characters",
    harm: "A scan of non-ASCII text reads and keeps up to three times the documented bytes",
    file: "dataplane/objects/list/filter-and-sort.ts",
    find: "return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);",
    replace: "return texts.reduce((sum, text) => sum + text.length, 0);",
    caughtBy: ["test/unit/dataplane/objects/list/filter-and-sort.test.ts"],
  },
  {
    name: "share-waited-for-while-redis-hangs",
    harm: "While Redis hangs, a request waits for its project's share until a command of another one times out, longer than is documented",
    file: "dataplane/admission/fair-share.ts",
    find: "this.#refuseOnTime(since);",
    replace: "",
    caughtBy: ["test/unit/dataplane/admission/fair-share.test.ts"],
  },
  {
    name: "large-page-read-at-once",
    harm: "A page of large objects makes Redis stand still for every project, until other projects hear that the store is away",
    file: `${scripts}/parts/read-texts.lua`,
    find: "bytes + largest <= budget) do",
    replace: "bytes + largest <= budget + 1e9) do",
    caughtBy: [redisStore],
  },
  {
    name: "rates-go-by-the-time-of-day",
    harm: "A clock that is set forward fills every bucket, and one that is set back locks callers out",
    file: "dataplane/store/memory-buckets.ts",
    find: "const now = clock.monotonic();",
    replace: "const now = clock.now();",
    caughtBy: ["test/store/embedded-store.test.ts"],
  },
  {
    // As replicas counted whose clocks differ by 1.5 s: by chance it is one's turn or the other's.
    name: "rates-go-by-two-clocks",
    harm: "Two replicas whose clocks differ by a second answer a hundred times as many requests as a rate allows",
    file: `${scripts}/parts/store-time.lua`,
    find: "math.floor(tonumber(time[2]) / 1000)",
    replace: "math.floor(tonumber(time[2]) / 1000) + 1500 * (tonumber(time[2]) % 2)",
    caughtBy: ["test/http/rate-limits.test.ts"],
  },
  {
    name: "bucket-filled-ahead-locks-out",
    harm: "After the clock of Redis jumped ahead and came back, a project is refused for the length of the jump",
    file: `${scripts}/draw-tokens-1.lua`,
    find: "if at - now > max_ahead then",
    replace: "if at - now > max_ahead + 1e12 then",
    caughtBy: ["test/store/lua/limit-scripts.test.ts"],
  },
  {
    name: "window-from-ahead-locks-out",
    harm: "After the clock of Redis jumped ahead and came back, nobody can log in for the length of the jump",
    file: `${scripts}/spend-budgets-n.lua`,
    find: "open[at] = now < ends and ends - now <= window",
    replace: "open[at] = now < ends",
    caughtBy: ["test/store/lua/limit-scripts.test.ts"],
  },
  {
    name: "empty-bucket-believed-for-long",
    harm: "A replica refuses a project for an hour because the store once said that its bucket fills late",
    file: "dataplane/admission/shared-bucket.ts",
    find: "now + Math.min(wait, emptyMs)",
    replace: "now + wait",
    caughtBy: ["test/unit/dataplane/admission/shared-bucket.test.ts"],
  },
  {
    name: "replica-refuses-by-the-time-of-day",
    harm: "A replica's clock that jumps ahead by an hour and comes back locks a whole project out for an hour",
    file: "dataplane/admission/shared-bucket.ts",
    find: "const now = this.#clock.monotonic();\n    this.#own = taken;",
    replace: "const now = this.#clock.now();\n    this.#own = taken;",
    caughtBy: ["test/unit/dataplane/admission/shared-bucket.test.ts"],
  },
  {
    name: "revision-stays-with-an-equal-resource",
    harm: "An index that was taken out and put back stays unavailable, with nothing building",
    file: "dataplane/config/live-resource.ts",
    find: "const isSame = before?.revision === revision && ",
    replace: "const isSame = before !== undefined && ",
    caughtBy: ["test/unit/dataplane/config/memory-directory.test.ts"],
  },
  {
    name: "rates-need-a-store-that-takes-writes",
    harm: "While Redis is full, a project with rates can't be read",
    file: "dataplane/admission/local-buckets.ts",
    find: "if (!(error instanceof WritesRefused)) throw error;",
    replace: "if (error instanceof Error) throw error;",
    caughtBy: ["test/http/refused-writes.test.ts", "test/http/rate-limits.test.ts"],
  },
  {
    name: "no-rates-while-writes-are-refused",
    harm: "While Redis is full, rates limit nobody",
    file: "dataplane/admission/local-buckets.ts",
    find: "() => local.drawTokens(bucket, wanted)),",
    replace: "async () => ({ taken: wanted, left: bucket.burst, waitMs: 0 })),",
    caughtBy: ["test/http/refused-writes.test.ts"],
  },
];
