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
    find: "    if (sessions !== before) return;\n    await publisher.complete();\n",
    replace: "    await publisher.complete();\n",
    caughtBy: ["test/unit/operator/runtime/maintenance.test.ts"],
  },
  {
    name: "unreadable-usage-hides-everybody-elses",
    harm: "One unreadable figure of one replica freezes what the statuses of all Projects say of their quotas",
    file: "operator/publish/quota-aggregator.ts",
    find: "if (error instanceof SyntaxError) return undefined;",
    replace: "",
    caughtBy: ["test/unit/operator/publish/quota-aggregator.test.ts"],
  },
  {
    name: "acknowledged-while-the-status-was-written",
    harm: "A Project that a replica serves says for as long as another replica lags that none does",
    file: "operator/runtime/event-handlers.ts",
    find: "acknowledgements !== undefined && isOutdated(",
    replace: 'acknowledgements?.rolloutOf(next.revision) === "programmed" && isOutdated(',
    caughtBy: ["test/unit/operator/runtime/event-handlers.test.ts"],
  },
];
