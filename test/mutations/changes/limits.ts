// Faults of what is bounded: sizes, rates, the time that they go by, and what one project may take of the others' time.

import type { Mutation } from "../mutation.ts";

const scripts = "dataplane/store/redis/scripts";

export const limitMutations: readonly Mutation[] = [
  {
    name: "large-page-read-at-once",
    harm: "A page of large objects makes Redis stand still for every project, until other projects hear that the store is away",
    file: `${scripts}/parts/read-texts.lua`,
    find: "bytes + largest <= budget) do",
    replace: "bytes + largest <= budget + 1e9) do",
    caughtBy: ["test/store/redis-store.test.ts"],
  },
];
