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
];
