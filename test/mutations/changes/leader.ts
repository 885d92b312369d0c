// Faults of what the leader does beside one Project's reconcile: beginnings, completion, what it takes for gone, what it looks at again.

import type { Mutation } from "../mutation.ts";

export const leaderMutations: readonly Mutation[] = [
  {
    name: "half-begun-writer-taken-for-begun",
    harm: "After a beginning that failed half-way nothing that Redis lost is published again, and hosts go to the wrong Project",
    file: "operator/publish/config-writer.ts",
    find: "    current = undefined;\n",
    replace: "",
    caughtBy: ["test/unit/operator/publish/config-writer.test.ts"],
  },
  {
    name: "emptied-redis-called-complete",
    harm: "A Redis that was just emptied is called complete, and replicas take every Project for gone",
    file: "operator/runtime/maintenance.ts",
    find: "    if (beginnings !== begunAs) return;\n    await publisher.complete();\n",
    replace: "    await publisher.complete();\n",
    caughtBy: ["test/unit/operator/runtime/maintenance.test.ts"],
  },
];
