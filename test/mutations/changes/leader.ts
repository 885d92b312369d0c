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
    name: "second-look-a-moment-after-the-first",
    harm: "A watch that is behind for a moment withdraws all keys of a Project, because an event brought it up twice",
    file: "operator/finalize/confirmed-deletions.ts",
    find: "now - at >= minIntervalMs",
    replace: "now - at >= 0",
    caughtBy: ["test/unit/operator/finalize/confirmed-deletions.test.ts"],
  },
  {
    name: "second-look-at-the-same-memory",
    harm: "A wrong answer of the API server, given once, withdraws all keys of a Project",
    file: "operator/finalize/confirmed-deletions.ts",
    find: "return found === 0;",
    replace: "return found >= 0;",
    caughtBy: ["test/unit/operator/finalize/confirmed-deletions.test.ts"],
  },
  {
    name: "orphans-believed-without-a-comparison",
    harm: "Caches that are behind withdraw most Projects, when they stay behind for a quarter of a minute",
    file: "operator/runtime/orphaned-projects.ts",
    find: "      await deps.confirmCaches();\n",
    replace: "",
    caughtBy: ["test/unit/operator/runtime/orphaned-projects.test.ts"],
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
