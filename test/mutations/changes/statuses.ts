// Faults of what is served first and reported in statuses after.

import type { Mutation } from "../mutation.ts";

export const statusMutations: readonly Mutation[] = [
  {
    name: "programmed-before-acknowledged",
    harm: "Statuses say that replicas serve what none of them has acknowledged",
    file: "operator/runtime/report-key.ts",
    find: "const rollout = await awaitReplicas(unreported, signal);",
    replace: 'const rollout = { state: "programmed", availability: "served" } as const;',
    caughtBy: ["test/unit/operator/runtime/report-key.test.ts"],
  },
  {
    name: "older-outcome-reported",
    harm: "What a run found is written into statuses although a newer run has changed or revoked it since, and failed",
    file: "operator/runtime/process-key.ts",
    find: "  deps.unreported.delete(key);\n",
    replace: "",
    caughtBy: ["test/unit/operator/runtime/report-key.test.ts"],
  },
  {
    name: "deletion-beside-statuses",
    harm: "A deletion is carried out while statuses of before are written, which then say that the object is served",
    file: "operator/queue/work-queue.ts",
    find: `if (work === undefined) lanes.put(key, lane, "serve");`,
    replace: `if (work === undefined || work.stage === "report") lanes.put(key, lane, "serve");`,
    caughtBy: ["test/unit/operator/queue/stages.test.ts"],
  },
  {
    name: "revocation-after-statuses",
    harm: "A key that is deleted in a Project of thousands of objects is accepted until all their statuses are written",
    file: "operator/status/status-writer.ts",
    find: "    if (!mayWrite()) return 0;\n",
    replace: "",
    caughtBy: ["test/unit/operator/status/status-writer.test.ts"],
  },
  {
    name: "statuses-beside-serving",
    harm: "Of thousands of new Projects the last one is served after the statuses of all others",
    file: "operator/queue/work-queue.ts",
    find: "const reportedWhileServing = 1;",
    replace: "const reportedWhileServing = 64;",
    caughtBy: ["test/unit/operator/queue/stages.test.ts"],
  },
];
